#!/usr/bin/env python3
"""Reads off the recordings beside it what a reader must find, with nothing of
the reader's: want.py > want.tsv"""

import glob
import json
import os
import re

os.chdir(os.path.dirname(os.path.abspath(__file__)))
print("# file, outcome, token chunks, the first visible of them (0: none), prompt tokens, cached (-: not told), "
      "output tokens, reasoning (-: not told), finish_reason, server TTFT in ms")


def unchunk(body):
    out = b""
    while True:
        size, _, body = body.partition(b"\r\n")
        n = int(size, 16) if size else 0
        if n == 0:
            return out
        out, body = out + body[:n], body[n + 2:]


def read(file):
    data = open(file, "rb").read()
    data, killed, status = data.partition(b"\n# curl exit status ")
    head, _, body = data.partition(b"\r\n\r\n")
    if re.match(rb"[0-9a-fA-F]+\r\n", body):
        body = unchunk(body)
    code = int(head.split(b" ")[1])
    kind = re.search(rb"(?im)^content-type: *([^;\r\n]*)", head)
    return code, kind.group(1).decode() if kind else "", body, killed != b"" and status.strip() != b"0"


def told(details, name):
    value = (details or {}).get(name)
    return "-" if value is None else value


def judge(code, kind, body, cut):
    chunks, visible, finish, ttft = 0, 0, "", ""
    usage, loose, choices, finished, error, done = None, [], set(), set(), False, False
    if code != 200:
        shed = code in (429, 503, 529)
        usage = None
        return ["shed" if shed else "http_status", 0, 0, 0, "-", 0, "-", "", ""]
    if kind != "text/event-stream":
        whole = json.loads(body)
        usage = whole.get("usage") or {}
        return ["in_band_error" if "error" in whole else "protocol", 0, 0, usage.get("prompt_tokens", 0),
                told(usage.get("prompt_tokens_details"), "cached_tokens"), usage.get("completion_tokens", 0),
                told(usage.get("completion_tokens_details"), "reasoning_tokens"), "", ""]
    for line in body.split(b"\n"):
        if not line.startswith(b"data:"):
            continue
        payload = line[5:].strip()
        if payload == b"[DONE]":
            done = True
            break
        chunk = json.loads(payload)
        if "error" in chunk:
            error = True
            continue
        shown = thought = False
        for c in chunk["choices"]:
            choices.add(c["index"])
            d = c.get("delta", {})
            shown |= bool(c.get("text") or d.get("content") or d.get("tool_calls"))
            thought |= bool(d.get("reasoning") or d.get("reasoning_content"))
            if c.get("finish_reason"):
                finished.add(c["index"])
                if c["index"] == 0 and not finish:
                    finish = c["finish_reason"]
        if shown or thought:
            chunks += 1
            if shown and not visible:
                visible = chunks
        if chunk.get("usage"):
            usage = chunk["usage"]
            if not chunk["choices"]:
                loose.append(usage)
        ttft = chunk.get("nvext", {}).get("timing", {}).get("ttft_ms", ttft)
    prompt, output = (usage or {}).get("prompt_tokens", 0), (usage or {}).get("completion_tokens", 0)
    cached = told((usage or {}).get("prompt_tokens_details"), "cached_tokens")
    if len(choices) > 1 and len(loose) > 1:  # one for each choice
        prompt, output = sum(u["prompt_tokens"] for u in loose), sum(u["completion_tokens"] for u in loose)
        cached = sum(u["prompt_tokens_details"]["cached_tokens"] for u in loose)
    reasoning = told((usage or {}).get("completion_tokens_details"), "reasoning_tokens")
    if error:
        outcome = "in_band_error"
    elif cut or not (done or finished == choices):
        outcome = "truncated"
    else:
        outcome = "ok" if usage else "protocol"
    return [outcome, chunks, visible, prompt, cached, output, reasoning, finish, ttft and "%.3f" % ttft]


for name in sorted(glob.glob("*.http")):
    print("\t".join(str(v) for v in [name] + judge(*read(name))))
