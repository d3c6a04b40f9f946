type Stub = { signature: string; args: string; doc: string };

/** The tools that a script may call, in the order in which the model reads about them. */
const STUBS: Record<string, Stub> = {
  web_search: {
    signature: 'query, limit=5',
    args: 'query=query, limit=limit',
    doc: '{"data": {"web": [{"title", "url", "description"}]}}',
  },
  web_extract: { signature: 'urls', args: 'urls=urls', doc: '{"results": [{"url", "title", "content", "error"}]}' },
  read_file: {
    signature: 'path, offset=1, limit=500',
    args: 'path=path, offset=offset, limit=limit',
    doc: '{"content", "total_lines"}, each line as "N|text"',
  },
  write_file: {
    signature: 'path, content',
    args: 'path=path, content=content',
    doc: '{"bytes_written", "files_modified"}',
  },
  search_files: {
    signature:
      'pattern, target="content", path=".", file_glob=None, limit=50, offset=0, output_mode="content", context=0',
    args:
      'pattern=pattern, target=target, path=path, file_glob=file_glob, limit=limit, offset=offset, ' +
      'output_mode=output_mode, context=context',
    doc: '{"total_count", "matches": [{"path", "line", "content"}], "files"}',
  },
  patch: {
    signature: 'path=None, old_string=None, new_string=None, replace_all=False, mode="replace", patch=None',
    args: 'path=path, old_string=old_string, new_string=new_string, replace_all=replace_all, mode=mode, patch=patch',
    doc: '{"success", "diff", "error"}',
  },
  terminal: {
    signature: 'command, timeout=None, workdir=None',
    args: 'command=command, timeout=timeout, workdir=workdir',
    doc: '{"output", "exit_code"}, in the foreground only',
  },
};

export const SCRIPT_TOOLS: readonly string[] = Object.keys(STUBS);

/** One line of the tool's description for each of the tools. */
export function describeStubs(tools: readonly string[]): string {
  return list(tools)
    .map(([name, { signature, doc }]) => `${name}(${signature}) -> ${doc}`)
    .join('\n');
}

/** The files that lie beside a script: the module of its tools under both of its names. */
export function buildStubFiles(tools: readonly string[]): Record<string, string> {
  const names = list(tools).map(([name]) => name);
  const absent = SCRIPT_TOOLS.filter((name) => !names.includes(name));
  const functions = list(tools).map(
    ([name, { signature, args }]) => `def ${name}(${signature}):\n    return _call("${name}", ${args})\n`,
  );
  const all = [...names, 'json_parse', 'shell_quote', 'retry'];
  return {
    'capstan_tools.py': [
      MODULE,
      `__all__ = ${JSON.stringify(all)}\n_ABSENT = ${JSON.stringify(absent)}\n`,
      ...functions,
    ].join('\n\n'),
    'hermes_tools.py': ALIAS,
  };
}

function list(tools: readonly string[]): [string, Stub][] {
  return Object.entries(STUBS).filter(([name]) => tools.includes(name));
}

const ALIAS = 'import sys\nimport capstan_tools\n\nsys.modules[__name__] = capstan_tools\n';

// A connection answers one call at a time; threads get one each, up to eight.
const MODULE = String.raw`"""The tools of this session, for scripts of execute_code."""
import json as _json
import os as _os
import shlex as _shlex
import socket as _socket
import threading as _threading
import time as _time


def _forget():
    global _free, _slots
    _free, _slots = [], _threading.BoundedSemaphore(8)


_forget()
_os.register_at_fork(after_in_child=_forget)


def _connect():
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.connect(_os.path.join(_os.environ["CAPSTAN_SCRIPT"], "rpc"))
    return connection.makefile("rwb")


def _call(tool, **args):
    given = {name: value for name, value in args.items() if value is not None}
    line = _json.dumps({"tool": tool, "args": given}).encode("ascii") + b"\n"
    with _slots:
        stream = _free.pop() if _free else _connect()
        stream.write(line)
        stream.flush()
        answer = stream.readline()
        if not answer.endswith(b"\n"):
            raise ConnectionError("tool calls are no longer answered")
        _free.append(stream)
    return _json.loads(answer)


def __getattr__(name):
    if name in _ABSENT:
        raise ImportError(f"the tool {name} is not enabled in this session")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def json_parse(text):
    """The JSON value that the text begins with; control characters in strings and text after it are let be."""
    return _json.JSONDecoder(strict=False).raw_decode(text.lstrip("\ufeff \t\r\n"))[0]


def shell_quote(text):
    return _shlex.quote(text)


def retry(fn, max_attempts=3, delay=2):
    """Calls fn until it does not raise; waits delay seconds, then twice as long, and so on."""
    for attempt in range(1, max_attempts + 1):
        try:
            return fn()
        except Exception:
            if attempt >= max_attempts:
                raise
            _time.sleep(delay * 2 ** (attempt - 1))
`;
