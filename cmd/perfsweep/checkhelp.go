package main

const checkLong = `check measures the one concurrency that the overlay pins, three valid times of at
most five, and judges the median as AICR's evaluator does. It ends with 0 for
pass, 8 for fail and 9 for inconclusive: too few valid runs, runs that disagree,
stalls, or no gate. Inconclusive beats both pass and fail.

In a closed loop the other workers carry the load of a lost one, and the point
that the overlay pins shows little of it. --baseline adds a capacity pulse: a
steady run at the last healthy level at or below the baseline's knee, held
against the baseline's own runs there. A failed pulse is a failed gate (8).
A baseline that is not finished, that contradicts itself or fails C1 to C5, and a
pulse that was planned or made and that the baseline cannot judge (another level,
stale), are inconclusive (9). So is one that is not the sidecar's journal and whose
gate runs contradict the sidecar's; one that is dated after the check is refused.
It also tells drift against the baseline's gate runs, which changes no verdict.
Without a baseline nothing is pulsed, and the verdict says so; drift is then told
against the gate runs that the sidecar keeps, and the answer names which it used.

The sidecar that calibrate wrote (OVERLAY.provenance.json, or --sidecar FILE) says
what the gate was calibrated on. A run of something else, such as another image,
precision, workload or GPUs a worker, is stale and inconclusive (9), never a
regression; a gate that was edited since, and a sidecar that is missing, are told.
Workers that the calibration counted and the check cannot are inconclusive (9).
State with --label what a URL does not tell.

` + bridgedCheckHelp + `

Model and load are the overlay's, else those of AICR_INFERENCE_PERF_MODEL and
AICR_INFERENCE_PERF_CONCURRENCY_PER_GPU, else AICR's defaults; the answer says
which. --emulate-aicr adds what AICR's own evaluator would conclude, in its order
and words, with what it overlooks; the verdict stays the one of perfsweep.

Where the overlay's parent lies beside it, or with --recipes DIR, the gate is that
of the whole chain, as AICR resolves it, and the answer names what is inherited. A
chain that contradicts itself is refused before anything is measured. Where the
parent is not there, the answer says what the overlay leaves to it.

--data DIR takes the overlay that "calibrate --data DIR" made of this one, with its
sidecar, where DIR has one, and resolves the chain across both trees, as AICR does.

--history keeps a line of every check. From 30 comparable ones on it looks for a
change of throughput or TTFT p99 among the last 50 (Pettitt's test, p at most
0.001, and by 3 or 10 % at least), and it says when two checks in a row raised
the drift alarm. Neither changes a verdict.

--ctrf and --junit write the verdict as a test report as well. There an
inconclusive check, and one that ended in an error, is "other" (CTRF) or <error>
(JUnit): neither passed nor skipped. AICR's RESULT: lines are printed with a pass
or a fail only. A file that is there is replaced only if it is empty or of the
kind that is written.

--replay measures nothing: it shows which runs of known state, healthy or bad,
pass the gate of each shipped overlay (or of --overlay), beside the full-node
floor of 50,000 tok/s that all of them had before. It ends with 8 when a healthy
run fails or a bad one passes. A run that lacks a figure is never a pass.

`
