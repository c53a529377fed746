"""What a training runs on, as far as its result may depend on it."""

import os
import platform
import resource

import torch


def settle(threads):
    """The same numbers in each run: a fixed count of threads, and no algorithm that chooses as it goes."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    if threads is not None:
        torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True, warn_only=True)


def environment(precision):
    import peft
    import transformers

    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
    return {
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "peft": peft.__version__,
        "threads": torch.get_num_threads(),
        "device": device,
        "capability": torch.backends.cpu.get_cpu_capability(),
        "machine": platform.machine(),
        "precision": precision,
    }


def memory_bytes():
    """The most that this process has had in memory, or on the accelerator where there is one."""
    if torch.cuda.is_available():
        return torch.cuda.max_memory_allocated()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if platform.system() == "Darwin" else peak * 1024
