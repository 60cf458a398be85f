//go:build kube

package kube

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/perfsweep/perfsweep/test/containerfile"
)

// product is the label of the GPU nodes.
const product = "NVIDIA-H100-80GB-HBM3"

// cluster is what the tests of this package share.
type cluster struct {
	kubeconfig string
	image      string   // of the binary under test; its entry point is /perfsweep
	binary     string   // the same, on this machine
	kubectl    []string // the command
	bed        string   // folder of the bed, "" for a cluster that was there before
	// noCRD is what discover said before the definition was applied.
	noCRD answer
}

var shared cluster

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

// testMain, unlike os.Exit, lets the deferred calls run.
func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "perfsweep-kube")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	stop, err := shared.start(dir)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer stop()
	return m.Run()
}

// start builds the binary, starts or joins the cluster, and makes it one that
// knows DynamoGraphDeployments. What it did ends with stop.
func (c *cluster) start(dir string) (stop func(), err error) {
	images, err := c.buildImage(dir)
	if err != nil {
		return nil, err
	}
	end := func() {}
	switch kbed := os.Getenv("KBED"); {
	case kbed != "":
		c.bed = filepath.Join(dir, "bed")
		c.kubectl = []string{kbed, "kubectl"}
		if c.kubeconfig, end, err = startBed(kbed, c.bed, "-nodes", "2", "-gpus", "32", "-images", images); err != nil {
			return nil, err
		}
		if _, err = c.try("", "label", "nodes", "--all", "nvidia.com/gpu.product="+product); err != nil {
			end()
			return nil, err
		}
	case os.Getenv("KUBECONFIG") != "":
		c.kubeconfig, c.kubectl = os.Getenv("KUBECONFIG"), []string{"kubectl"}
		if c.image = os.Getenv("PERFSWEEP_IMAGE"); c.image == "" {
			return nil, errors.New("PERFSWEEP_IMAGE must name an image of this commit's binary that the cluster of KUBECONFIG can pull")
		}
	default:
		// Failing, not skipping: no test that ran would look like success.
		return nil, errors.New("no cluster: set KBED to a kbed binary, or KUBECONFIG to a cluster that may be littered")
	}
	c.noCRD = c.perfsweep(nil, "discover")
	if _, err := c.try("", "create", "-f", "testdata/crd.yaml"); err != nil {
		end()
		return nil, err
	}
	if _, err := c.try("", "wait", "--for=condition=Established", "--timeout=60s", "crd/dynamographdeployments.nvidia.com"); err != nil {
		end()
		return nil, err
	}
	return func() {
		if c.bed == "" {
			_, _ = c.try("", "delete", "-f", "testdata/crd.yaml") // the next run begins without
		}
		end()
	}, nil
}

// buildImage makes the image of deploy/Containerfile, as that says.
func (c *cluster) buildImage(dir string) (imagesFile string, err error) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "deploy", "Containerfile"))
	if err != nil {
		return "", err
	}
	file, err := containerfile.Parse(string(text))
	if err != nil {
		return "", fmt.Errorf("deploy/Containerfile: %w", err)
	}
	if err := file.Make(root, filepath.Join(dir, "image")); err != nil {
		return "", err
	}
	uid, err := strconv.Atoi(file.UID)
	if err != nil {
		return "", err
	}
	c.image = "perfsweep:test"
	c.binary = filepath.Join(dir, "image", filepath.FromSlash(file.Entrypoint[0]))
	raw, err := json.Marshal([]map[string]any{{"ref": c.image, "rootfs": "image", "entrypoint": file.Entrypoint, "uid": uid}})
	if err != nil {
		return "", err
	}
	// Pods that are not root read the image.
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", err
	}
	imagesFile = filepath.Join(dir, "images.json")
	return imagesFile, os.WriteFile(imagesFile, raw, 0o644)
}

// startBed starts a cluster in dir and returns when pods can be scheduled. The
// cluster ends with stop, or with this process however that ends.
func startBed(kbed, dir string, args ...string) (kubeconfig string, stop func(), err error) {
	runtime.LockOSThread() // Pdeathsig follows the thread
	c := exec.Command(kbed, append([]string{"up", "-dir", dir}, args...)...)
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	c.Stderr = os.Stderr // on failure it has the ends of the logs
	out, err := c.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := c.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		_ = c.Wait()
	}
	for sc := bufio.NewScanner(out); sc.Scan(); {
		if strings.Contains(sc.Text(), "ready:") {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return filepath.Join(dir, "kubeconfig"), stop, nil
		}
	}
	stop()
	return "", nil, fmt.Errorf("%s did not start a cluster", kbed)
}
