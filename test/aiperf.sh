#!/usr/bin/env bash
# Installs AIPerf and a tokenizer once, for the comparisons with it, and prints
# where they are: AIPERF=PROGRAM and TOKENIZER=FOLDER.
# Usage: aiperf.sh [VERSION]    default 0.13.0
# Needs Python 3.10 to 3.13 (PYTHON, default python3) and the package index once;
# both are kept in PEER_CACHE, default ~/.cache/peer-bench.
set -euo pipefail
version=${1:-0.13.0}
cache=${PEER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/peer-bench}
venv=$cache/aiperf-$version tok=$cache/tok
mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9
if [[ ! -x $venv/bin/aiperf ]]; then
  echo "aiperf.sh: installing aiperf $version into $venv (once)" >&2
  rm -rf "$venv"
  if ! { "${PYTHON:-python3}" -m venv "$venv" && "$venv/bin/pip" install --quiet "aiperf==$version" >&2; }; then
    rm -rf "$venv"
    echo "aiperf.sh: AIPerf is missing and was not installed: it needs Python 3.10 to 3.13 with venv, and 'pip install aiperf==$version' must work" >&2
    exit 1
  fi
fi
if [[ ! -f $tok/tokenizer.json ]]; then
  # One word is one token, as the servers of the comparison count: AIPerf takes
  # its prompts from a text of its own, so its frequent words are entries too.
  "$venv/bin/python" - "$tok" <<'PY'
import collections, json, os, sys
import aiperf
folder = sys.argv[1]
text = os.path.join(os.path.dirname(aiperf.__file__), "dataset", "generator", "assets", "shakespeare.txt")
with open(text, encoding="utf-8") as f:
    frequent = [w for w, _ in collections.Counter(f.read().split()).most_common(2000)]
words = ["<s>", "</s>", "<pad>"] + ["w%d" % i for i in range(2096)]
words += [w for w in frequent if w not in set(words)]
entries = {w: i for i, w in enumerate(words)}
special = [{"id": i, "content": w, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
           for w, i in entries.items() if i < 3]
os.makedirs(folder, exist_ok=True)
def write(name, value):
    with open(os.path.join(folder, name + ".new"), "w") as f:
        json.dump(value, f)
    os.replace(os.path.join(folder, name + ".new"), os.path.join(folder, name))
write("config.json", {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": len(words),
      "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 64})
write("tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>",
      "pad_token": "<pad>", "clean_up_tokenization_spaces": False,
      "chat_template": "{% for m in messages %}{{ m['content'] }} {% endfor %}"})
write("tokenizer.json", {"version": "1.0", "truncation": None, "padding": None, "added_tokens": special, "normalizer": None,
      "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": None, "decoder": None,
      "model": {"type": "WordLevel", "vocab": entries, "unk_token": "w0"}})
PY
fi
echo "AIPERF=$venv/bin/aiperf"
echo "TOKENIZER=$tok"
