/** What a change means to callers: by Python's own parser, and elsewhere by the names that a file exports. */
import type { Context } from '../../operations/command.ts';
import { isTestFile } from './judging/test-files.ts';

export interface Sides {
  path: string;
  before: string;
  after: string;
}

export interface InterfaceChanges {
  breaking: string[];
  non_breaking: string[];
  not_judged: string[];
}

/**
 * Breaking: a caller of the old form would fail. Names with an underscore, and functions within functions, are nobody's to
 * call. A name that is imported or assigned instead is still there.
 */
const JUDGE = `
import ast, json, sys

def args_of(node):
    a = node.args
    named = [x.arg for x in a.posonlyargs + a.args]
    return {
        "only": len(a.posonlyargs), "named": named, "defaults": len(a.defaults),
        "kw": {x.arg: d is not None for x, d in zip(a.kwonlyargs, a.kw_defaults)},
        "rest": a.vararg is not None, "keywords": a.kwarg is not None,
        "async": isinstance(node, ast.AsyncFunctionDef),
        "kind": sorted(d.id for d in node.decorator_list
                       if isinstance(d, ast.Name) and d.id in ("property", "staticmethod", "classmethod")),
    }

def names_of(body, prefix=""):
    found, bases = {}, {}
    for node in body:
        if isinstance(node, (ast.If, ast.Try, ast.With)):
            parts = [node.body, getattr(node, "orelse", []), getattr(node, "finalbody", [])]
            parts += [h.body for h in getattr(node, "handlers", [])]
            for part in parts:
                more, inner = names_of(part, prefix)
                for name, value in more.items():
                    found.setdefault(name, value)
                bases.update(inner)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if not node.name.startswith("_") or (prefix and node.name == "__init__"):
                found[prefix + node.name] = ("function", args_of(node))
        elif isinstance(node, ast.ClassDef):
            if not node.name.startswith("_"):
                name = prefix + node.name
                found[name] = ("class", None)
                bases[name] = [ast.unparse(b) for b in node.bases]
                more, inner = names_of(node.body, name + ".")
                found.update(more)
                bases.update(inner)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                name = (alias.asname or alias.name).split(".")[0]
                found.setdefault(prefix + name, ("other", None))
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                for leaf in ast.walk(target):
                    if isinstance(leaf, ast.Name) and not leaf.id.startswith("_"):
                        found[prefix + leaf.id] = ("other", None)
    return found, bases

def inherited(name, found, bases, depth=0):
    owner, _, method = name.rpartition(".")
    return depth < 20 and any(
        base + "." + method in found or (base in bases and inherited(base + "." + method, found, bases, depth + 1))
        for base in bases.get(owner, []))

def why(old, new):
    if old["async"] != new["async"]:
        return "is called in another way: async changed"
    if old["kind"] != new["kind"]:
        return "is called in another way: " + ", ".join(new["kind"] or old["kind"])
    names, now = old["named"], new["named"]
    for at, name in enumerate(names):
        if at >= len(now):
            if not (new["rest"] and (new["keywords"] or at < old["only"])):
                if name in new["kw"]:
                    return "parameter %s is by keyword only" % name
                return "parameter %s is gone" % name
        elif now[at] != name:
            if at < old["only"]:
                continue
            return "parameter %s is %s now" % (name, now[at])
        elif at >= old["only"] and at < new["only"]:
            return "parameter %s is by position only" % name
    needed_old = len(names) - old["defaults"]
    needed = len(now) - new["defaults"]
    if needed > needed_old:
        return "parameter %s is required" % now[max(needed_old, 0)]
    for name, is_optional in new["kw"].items():
        if not is_optional and old["kw"].get(name, True):
            if name not in names:
                return "parameter %s is required" % name
    for name in old["kw"]:
        if name not in new["kw"] and name not in now and not new["keywords"]:
            return "parameter %s is gone" % name
    if old["rest"] and not new["rest"]:
        return "takes no further arguments"
    if old["keywords"] and not new["keywords"]:
        return "takes no further keywords"
    return None

answer = {}
for path, (before, after) in json.load(sys.stdin).items():
    try:
        (old, old_bases), (new, new_bases) = [names_of(ast.parse(text).body) for text in (before, after)]
    except (SyntaxError, ValueError, RecursionError):
        answer[path] = None
        continue
    breaking, added = [], []
    for name, (kind, args) in old.items():
        if kind == "other" and "." not in name and name not in new:
            breaking.append(name + " is gone")
        elif kind == "other":
            continue
        elif name not in new:
            owner = name.rpartition(".")[0]
            if owner and owner not in new:
                continue
            if name.endswith(".__init__") and not args["named"][1:]:
                continue
            if not inherited(name, new, new_bases):
                breaking.append(name + " is gone")
        elif kind == "class":
            lost = [base for base in old_bases[name] if base not in new_bases.get(name, []) and base != "object"]
            if lost and new[name][0] == "class":
                breaking.append(name + " is no longer a " + lost[0])
        elif new[name][0] == "function":
            found = why(args, new[name][1])
            if found:
                breaking.append(name + ": " + found)
    for name, (kind, args) in new.items():
        if name in old or kind == "other":
            continue
        if name.endswith(".__init__") and name.rpartition(".")[0] in old and len(args["named"]) - 1 > args["defaults"]:
            breaking.append(name + ": parameters are required")
        else:
            added.append(name)
    answer[path] = [breaking, added]
json.dump(answer, sys.stdout)
`;

const EXPORTS: readonly [files: RegExp, names: RegExp][] = [
  [
    /\.[cm]?[jt]sx?$/,
    /^export\s+(?:default\s+)?(?:declare\s+)?(?:async\s+)?(?:abstract\s+)?(?:function\*?|const|let|var|class|interface|type|enum|namespace)\s+([\w$]+)/gm,
  ],
  [/\.rs$/, /^\s*pub\s+(?:const\s+|unsafe\s+|async\s+)*(?:fn|struct|trait|enum|type|const|static|mod)\s+(\w+)/gm],
  [/\.go$/, /^(?:func\s+(?:\([^)]*\)\s*)?|type\s+|var\s+|const\s+)([A-Z]\w*)/gm],
];

/** Names alone: what a function takes is not looked at. */
function namesBeside({ path, before, after }: Sides): { breaking: string[]; added: string[] } | null {
  const names = EXPORTS.find(([files]) => files.test(path))?.[1];
  if (names === undefined) return null;
  const [old, now] = [before, after].map((text) => new Set(Array.from(text.matchAll(names), ([, name = '']) => name)));
  return {
    breaking: [...(old ?? [])].filter((name) => now?.has(name) !== true).map((name) => `${path}: ${name} is gone`),
    added: [...(now ?? [])].filter((name) => old?.has(name) !== true).map((name) => `${path}: ${name}`),
  };
}

export async function interfaceChanges(
  files: readonly Sides[],
  { spawn }: Pick<Context, 'spawn'>,
): Promise<InterfaceChanges> {
  const changes: InterfaceChanges = { breaking: [], non_breaking: [], not_judged: [] };
  const code = files.filter(({ path }) => !isTestFile(path));
  const python = code.filter(({ path }) => path.endsWith('.py'));
  const judged = python.length === 0 ? {} : await ofPython(python, spawn);
  for (const { path } of python) {
    const found = judged?.[path] ?? null;
    if (found === null) changes.not_judged.push(path);
    else {
      changes.breaking.push(...found[0].map((said) => `${path}: ${said}`));
      changes.non_breaking.push(...found[1].map((said) => `${path}: ${said}`));
    }
  }
  for (const one of code.filter(({ path }) => !path.endsWith('.py'))) {
    const found = namesBeside(one);
    if (found === null) continue;
    changes.breaking.push(...found.breaking);
    changes.non_breaking.push(...found.added);
    // A file that is new has no old callers.
    if (one.before !== '') changes.not_judged.push(one.path);
  }
  return changes;
}

type Judged = { [path: string]: [breaking: string[], added: string[]] | null };

async function ofPython(files: readonly Sides[], spawn: Context['spawn']): Promise<Judged | null> {
  const asked = Object.fromEntries(files.map(({ path, before, after }) => [path, [before, after]]));
  const { success, stdout } = await spawn('python3', {
    args: ['-I', '-c', JUDGE],
    stdin: JSON.stringify(asked),
    timeoutMs: 60_000,
  });
  return success ? (JSON.parse(stdout) as Judged) : null;
}
