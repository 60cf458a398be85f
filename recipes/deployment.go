package recipes

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// MaxDeployment bounds the file of a deployment.
const MaxDeployment = 1 << 20

// Deployment is what a DynamoGraphDeployment says of the things that decide
// speed. It is read from either API version, v1alpha1 (services) or v1beta1
// (components).
type Deployment struct {
	Frontends  []Component
	Workers    []Component
	Others     []Component
	RouterMode string // "" = not stated
}

// Component is one component of a deployment.
type Component struct {
	Name     string
	Replicas int
	Nodes    int // of one replica
	Image    string
	Module   string // of python3 -m
	Model    string
	// Flags are the flags of its command, with their values, but for those that
	// Model holds.
	Flags []string
	// GPUs of one replica, limited or claimed; 0 where that is not known.
	GPUs int
	// Claimed: by dynamic resource allocation. Unresolved names the claims whose
	// template the file does not hold, Claims what AICR's own claim does not have.
	Claimed    bool
	Unresolved []string
	Claims     []string
	// Limits names what it requests or is limited to beside GPUs.
	Limits []string
	// Env holds its environment; a value from elsewhere is "".
	Env map[string]string
}

type dgd struct {
	Spec struct {
		Env        []dgdEnv                `yaml:"env"`
		Envs       []dgdEnv                `yaml:"envs"`
		Services   map[string]dgdComponent `yaml:"services"`
		Components []dgdComponent          `yaml:"components"`
	} `yaml:"spec"`
}

type dgdEnv struct {
	Name  string `yaml:"name"`
	Value string `yaml:"value"`
}

type dgdResources struct {
	Limits   map[string]any  `yaml:"limits"`
	Requests map[string]any  `yaml:"requests"`
	Claims   []resourceClaim `yaml:"claims"`
}

type dgdContainer struct {
	Name      string       `yaml:"name"`
	Image     string       `yaml:"image"`
	Command   []string     `yaml:"command"`
	Args      []string     `yaml:"args"`
	Env       []dgdEnv     `yaml:"env"`
	Resources dgdResources `yaml:"resources"`
}

type dgdComponent struct {
	Name             string       `yaml:"name"`
	Type             string       `yaml:"type"`
	ComponentType    string       `yaml:"componentType"`
	SubComponentType string       `yaml:"subComponentType"`
	Replicas         *int         `yaml:"replicas"`
	Resources        dgdResources `yaml:"resources"`
	Env              []dgdEnv     `yaml:"env"`
	Envs             []dgdEnv     `yaml:"envs"`
	Multinode        struct {
		NodeCount int `yaml:"nodeCount"`
	} `yaml:"multinode"`
	ExtraPodSpec struct {
		MainContainer  dgdContainer    `yaml:"mainContainer"`
		ResourceClaims []resourceClaim `yaml:"resourceClaims"`
	} `yaml:"extraPodSpec"`
	PodTemplate struct {
		Spec struct {
			Containers     []dgdContainer  `yaml:"containers"`
			ResourceClaims []resourceClaim `yaml:"resourceClaims"`
		} `yaml:"spec"`
	} `yaml:"podTemplate"`
}

// ParseDeployment reads a DynamoGraphDeployment, as a file or as kubectl prints
// it, with the ResourceClaimTemplates beside it that its GPUs are claimed from.
// What it does not know it leaves out; Differences then says what is not known.
func ParseDeployment(name string, b []byte) (*Deployment, error) {
	if len(b) > MaxDeployment {
		return nil, fmt.Errorf("%s: %d bytes is too large for a deployment", name, len(b))
	}
	f, err := readDeploymentFile(b)
	if err != nil {
		return nil, fmt.Errorf("%s: not a deployment: %w", name, err)
	}
	if f.dgd == nil {
		return nil, fmt.Errorf("%s: its kind is %q, not DynamoGraphDeployment", name, clip(f.kind))
	}
	d := f.dgd
	all := slices.Clone(d.Spec.Components)
	for _, n := range slices.Sorted(maps.Keys(d.Spec.Services)) {
		c := d.Spec.Services[n]
		c.Name = n
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: the deployment has neither components nor services", name)
	}
	out := &Deployment{RouterMode: envOf(d.Spec.Env, d.Spec.Envs)["DYN_ROUTER_MODE"]}
	for _, c := range all {
		read := c.read(f.claims)
		switch kind := c.Type + c.ComponentType; {
		case kind == "frontend":
			out.Frontends = append(out.Frontends, read)
			if m := read.Env["DYN_ROUTER_MODE"]; m != "" {
				out.RouterMode = m
			}
			if m := flagValue(read.Flags, "--router-mode"); m != "" {
				out.RouterMode = m
			}
		case kind == "worker" && c.SubComponentType == "":
			out.Workers = append(out.Workers, read)
		default:
			out.Others = append(out.Others, read)
		}
	}
	return out, nil
}

func envOf(lists ...[]dgdEnv) map[string]string {
	out := map[string]string{}
	for _, l := range lists {
		for _, e := range l {
			out[e.Name] = e.Value
		}
	}
	return out
}

// read flattens a component of either layout.
func (c dgdComponent) read(templates map[string]claimTemplate) Component {
	main := c.ExtraPodSpec.MainContainer
	for i, k := range c.PodTemplate.Spec.Containers {
		if k.Name == "main" || i == 0 {
			main = k
		}
	}
	out := Component{Name: c.Name, Replicas: 1, Nodes: max(c.Multinode.NodeCount, 1), Image: main.Image, Env: envOf(c.Env, c.Envs, main.Env)}
	if c.Replicas != nil {
		out.Replicas = *c.Replicas
	}
	for _, r := range []dgdResources{c.Resources, main.Resources} {
		for _, m := range []map[string]any{r.Limits, r.Requests} {
			out.limit(m)
		}
	}
	limited := out.GPUs
	out.claim(slices.Concat(c.ExtraPodSpec.ResourceClaims, c.PodTemplate.Spec.ResourceClaims), slices.Concat(c.Resources.Claims, main.Resources.Claims), templates)
	if out.Claimed && limited > 0 {
		out.Claims = append(out.Claims, "GPUs are limited as well")
	}
	slices.Sort(out.Limits)
	out.Limits = slices.Compact(out.Limits)
	out.command(strings.Fields(strings.Join(append(slices.Clone(main.Command), main.Args...), " ")))
	return out
}

// limit takes GPUs and names the rest.
func (c *Component) limit(m map[string]any) {
	for k, v := range m {
		switch n := 0; k {
		case "gpu", "nvidia.com/gpu":
			if _, err := fmt.Sscan(fmt.Sprint(v), &n); err == nil {
				c.GPUs = max(c.GPUs, n)
			}
		default:
			c.Limits = append(c.Limits, k)
		}
	}
}

// command takes a command line apart, also one that a shell is given as text.
func (c *Component) command(words []string) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		if !strings.HasPrefix(w, "-") || w == "-c" || w == "-u" { // of the shell, of python
			continue
		}
		flag, value, has := strings.Cut(w, "=")
		if !has && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
			i++
			value = words[i]
		}
		switch flag {
		case "-m":
			c.Module = value
		case "--model":
			c.Model = value
		default:
			c.Flags = append(c.Flags, strings.TrimSpace(flag+" "+value))
		}
	}
}

func flagValue(flags []string, name string) string {
	for _, f := range flags {
		if v, ok := strings.CutPrefix(f, name+" "); ok {
			return v
		}
	}
	return ""
}
