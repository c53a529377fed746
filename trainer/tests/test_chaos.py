"""The same promise, held by a program of somebody else: ckpt-chaos kills a save at each file boundary and judges what came back."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif("TRAINER_CHAOS_POINTS" not in os.environ, reason="TRAINER_CHAOS_POINTS does not say how many points; each loads torch twice")
@pytest.mark.skipif(importlib.util.find_spec("ckpt_chaos") is None, reason="ckpt-chaos is not installed")
def test_ckpt_chaos_finds_nothing(plan, tmp_path):
    written = plan(keep=1000)
    trainer = f"{sys.executable} -m sentinel_trainer train {written} --out {{out}}"
    points = os.environ["TRAINER_CHAOS_POINTS"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    ended = subprocess.run(
        [sys.executable, "-m", "ckpt_chaos", "run", "--step-regex", r'"resumed", "step": (\d+)',
         "--checkpoint-glob", "{out}/checkpoints/step-*", "--ckpt-ignore-size",
         "--result-file", "{out}/adapter/adapter_model.safetensors",
         "--fail-on", "HARD_FAIL,SILENT_DIVERGENCE,LOST_WORK", "--max-points", points, "--timeout", "600",
         "--", *trainer.split()],
        capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=3000,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    results = [json.loads(path.read_text()) for path in tmp_path.rglob("result.json")]
    assert len(results) >= int(points), ended.stdout
