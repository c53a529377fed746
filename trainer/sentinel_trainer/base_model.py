"""Opens the model that is trained: a GGUF file, a folder with safetensors, or an id of the hub."""

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sentinel_trainer.failures import TrainerFailure
from sentinel_trainer.hashes import file_hash, folder_hash
from sentinel_trainer.read_json import read_json

# How `transformers` names the architectures whose projections are known to this trainer, and GGUF's word for each.
ARCHITECTURES = {"llama": "llama", "mistral": "llama", "qwen2": "qwen2", "qwen3": "qwen3"}
WEIGHTS = ("*.safetensors",)
BESIDE = ("config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja")


@dataclass(frozen=True)
class BaseFacts:
    """What identifies a base, without its weights being loaded."""

    kind: str
    path: str
    name: str
    revision: str | None
    hash: str

    def shown(self):
        return {"kind": self.kind, "name": self.name, "revision": self.revision, "hash": self.hash}


@dataclass
class Base:
    facts: BaseFacts
    model: object
    tokenizer: object
    notices: list

    @property
    def shape(self):
        return shape_of(self.model.config)


def shape_of(config):
    """What a conversion has to know of a base."""
    require_supported(config.model_type)
    return {
        "architecture": ARCHITECTURES[config.model_type],
        "modelType": config.model_type,
        "layers": config.num_hidden_layers,
        "heads": config.num_attention_heads,
        "keyValueHeads": config.num_key_value_heads or config.num_attention_heads,
        "width": config.hidden_size,
    }


def identify(base):
    """Which base a name means, by the hash of its content. Fails with BASE_MISSING where it is not there."""
    path = Path(base)
    if path.is_file():
        return BaseFacts("gguf", str(path), path.name, None, file_hash(path))
    if path.is_dir():
        return folder_facts("folder", path, path.name, None)
    if path.is_absolute() or base.startswith(".") or base.endswith(".gguf") or base.count("/") != 1:
        raise TrainerFailure("BASE_MISSING", f"There is no model {base}: no such file or folder.")
    return from_hub(base)


def folder_facts(kind, path, name, revision):
    names = sorted({item.name for pattern in WEIGHTS for item in path.glob(pattern)})
    if not (path / "config.json").is_file() or not names:
        raise TrainerFailure("BASE_MISSING", f"{path} holds no model: it needs config.json and *.safetensors.")
    beside = [item for item in BESIDE if (path / item).is_file()]
    return BaseFacts(kind, str(path), name, revision, folder_hash(path, [*beside, *names]))


def from_hub(name):
    from huggingface_hub import snapshot_download

    try:
        folder = Path(snapshot_download(name, allow_patterns=[*WEIGHTS, *BESIDE]))
    except Exception as error:  # The hub's client fails with many kinds; each means that the model is not to be had.
        raise TrainerFailure("BASE_MISSING", f"{name} is no file or folder, and the hub does not give it: {error}") from error
    return folder_facts("hub", folder, name, folder.name)


def open_base(facts, precision="f32", quantize=False):
    """Model and tokenizer, ready to answer."""
    import torch
    from transformers import AutoModelForCausalLM

    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if facts.kind == "gguf":
        require_supported(gguf_text(facts.path, "general.architecture"))
    else:
        require_supported((read_json(Path(facts.path) / "config.json") or {}).get("model_type"))
    options = quantized() if quantize else {}
    tokenizer, notices = open_tokenizer(facts)
    with loading(facts):
        place, file = place_of(facts)
        model = AutoModelForCausalLM.from_pretrained(place, dtype=dtype, **file, **options)
    if facts.kind == "gguf":
        forget_quantization(model)
    if not quantize:
        model = model.to(device)
    return Base(facts, model.eval(), tokenizer, notices)


def open_tokenizer(facts):
    """The tokenizer, as llama.cpp has it, and notices about what is not known of it."""
    from transformers import AutoTokenizer

    with loading(facts):
        place, file = place_of(facts)
        tokenizer = AutoTokenizer.from_pretrained(place, **file)
    return tokenizer, mend_tokenizer(tokenizer, facts)


def place_of(facts):
    path = Path(facts.path)
    return (str(path.parent), {"gguf_file": path.name}) if facts.kind == "gguf" else (facts.path, {})


@contextmanager
def loading(facts):
    try:
        yield
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise TrainerFailure("BASE_UNSUPPORTED", f"{facts.name} cannot be loaded: {error}") from error


def quantized():
    """Weights in four bits (QLoRA), which needs CUDA and bitsandbytes."""
    import importlib.util

    import torch

    if not torch.cuda.is_available():
        raise TrainerFailure("QUANTIZATION_UNAVAILABLE", '"quantize" needs a GPU with CUDA, and there is none.')
    if importlib.util.find_spec("bitsandbytes") is None:
        raise TrainerFailure("QUANTIZATION_UNAVAILABLE", '"quantize" needs the package bitsandbytes.')
    from transformers import BitsAndBytesConfig

    config = BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16,
    )
    return {"quantization_config": config, "device_map": {"": 0}}


def require_supported(architecture):
    if architecture not in ARCHITECTURES:
        known = ", ".join(sorted(ARCHITECTURES))
        raise TrainerFailure(
            "BASE_UNSUPPORTED", f"The architecture {architecture} is not supported; these are: {known}."
        )


def gguf_text(path, key):
    from gguf import GGUFReader

    try:
        field = GGUFReader(path).get_field(key)
    except (OSError, ValueError) as error:
        raise TrainerFailure("BASE_UNSUPPORTED", f"{path} is not a GGUF file: {error}") from error
    return None if field is None else field.contents()


def mend_tokenizer(tokenizer, facts):
    """A GGUF file names its pre-tokenizer, which `transformers` does not read: "smollm" splits numbers into digits."""
    if facts.kind != "gguf":
        return []
    named = gguf_text(facts.path, "tokenizer.ggml.pre")
    if named == "smollm":
        from tokenizers import pre_tokenizers

        inner = tokenizer.backend_tokenizer
        inner.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
        )
        return []
    return [f'The pre-tokenizer "{named}" was not compared with llama.cpp; "tokens" prints what this trainer makes of a text.']


def forget_quantization(model):
    """The weights of a GGUF file are dequantized when they are loaded, but the model still says that it cannot be saved."""
    for owner in (model, model.config):
        for name in ("quantization_config", "hf_quantizer", "is_quantized", "quantization_method"):
            if name in vars(owner):
                delattr(owner, name)
