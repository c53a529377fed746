"""Rules that find what looks like a key, a token or a password. The value itself is never printed."""

import re

RULES = {
    "private key": r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
    "AWS access key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})",
    "GitLab token": r"\bglpat-[A-Za-z0-9_-]{20,}",
    "Slack token": r"\bxox[abprs]-[A-Za-z0-9-]{10,}",
    "Stripe key": r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
    "Google API key": r"\bAIza[0-9A-Za-z_-]{35}",
    "npm token": r"\bnpm_[A-Za-z0-9]{36}",
    "PyPI token": r"\bpypi-[A-Za-z0-9_-]{50,}",
    "Hugging Face token": r"\bhf_[A-Za-z0-9]{30,}",
    "model provider key": r"\bsk-[A-Za-z0-9_-]{20,}",
    "JSON Web Token": r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    "password in an address": r"\b[a-z][a-z0-9+.-]*://[^\s/:@]{1,100}:[^\s/:@]{3,200}@",
    "assigned secret": r"(?i)\b(?:api[_-]?key|secret|passw(?:or)?d|access[_-]?token|auth[_-]?token)\b[\"']?\s*[:=]\s*"
    r"[\"']?(?=[A-Za-z0-9_/+.=-]*[0-9])(?=[A-Za-z0-9_/+.=-]*[A-Za-z])[A-Za-z0-9_/+.=-]{16,}",
}
COMPILED = [(name, re.compile(rule)) for name, rule in RULES.items()]


def secret_in(text):
    """The name of the first rule that the text matches, or None."""
    return next((name for name, rule in COMPILED if rule.search(text)), None)
