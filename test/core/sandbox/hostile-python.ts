/**
 * Programs in Python that want to be paid for nothing, to get out, or never to end. Each has the test `assert f(2) == 4`. A family says what may come of its programs:
 * never that they pass, unless they are right.
 */
import type { PythonOutcome } from '../../../core/sandbox/python.ts';

interface Family {
  readonly outcomes: readonly PythonOutcome[];
  readonly programs: readonly string[];
}

const wrong = 'def f(x): return 5\n';
/** Ends by a limit on every machine, or by time where a single step of the interpreter takes it. */
const ENDS: readonly PythonOutcome[] = ['out-of-steps', 'out-of-memory', 'threw', 'failed'];

export const FAMILIES: Readonly<Record<string, Family>> = {
  'is right': {
    outcomes: ['passed'],
    programs: [
      'def f(x): return x * 2',
      'f = lambda x: 2 ** x',
      'from fractions import Fraction\ndef f(x): return Fraction(8, x)',
      'import numbers, typing, dataclasses, enum, collections\nPoint = collections.namedtuple("Point", "x")\n@dataclasses.dataclass\nclass P:\n  x: int\ndef f(x): return P(x).x + Point(2).x',
      'import sys, time\ntime.sleep(1e9)\nprint("said")\ndef f(x): return x + 2',
      'def f(x):\n  def up():\n    yield from range(5)\n  return list(up())[4]',
    ],
  },
  'says that it is equal to everything': {
    outcomes: ['failed'],
    programs: [
      'class E:\n  def __eq__(self, other): return True\ndef f(x): return E()',
      'class E(int):\n  def __eq__(self, other): return True\n  __hash__ = int.__hash__\ndef f(x): return E(5)',
      'class E(int):\n  def __new__(cls): return int.__new__(cls, 5)\n  def __eq__(self, o): return True\ndef f(x): return E()',
      'class M(type):\n  def __eq__(self, other): return True\n  __hash__ = type.__hash__\nclass E(metaclass=M): pass\ndef f(x): return E',
      'class E:\n  __class__ = int\n  def __eq__(self, other): return True\ndef f(x): return E()',
      'import unittest.mock as m\ndef f(x): return m.ANY',
      'class E(str):\n  def __eq__(self, other): return True\ndef f(x): return E("5")',
    ],
  },
  'changes what tests use': {
    outcomes: ['failed', 'threw', 'refused', 'syntax'],
    programs: [
      'import builtins\ndef f(x):\n  builtins.bool = lambda *a: True\n  return [5]',
      `import builtins\nbuiltins.AssertionError = Exception\n${wrong}`,
      `import builtins\nbuiltins.bool = builtins.int = lambda *a: True\n${wrong}`,
      `import builtins\nbuiltins.__dict__["type"] = lambda x: int\n${wrong}`,
      `import builtins\nbuiltins.len = builtins.zip = builtins.all = builtins.any = lambda *a: 0\n${wrong}`,
      `import sys\nsys.modules["builtins"] = None\n${wrong}`,
      `__same__ = lambda a, b: True\n${wrong}`,
      `def __same__(a, b): return True\nglobals()["__same__"] = __same__\n${wrong}`,
      `import operator, math, ast\noperator.eq = math.isclose = ast.parse = lambda *a: True\n${wrong}`,
      `__debug__ = False\n${wrong}`,
      `import types, functools\nfunctools.reduce = types.FunctionType = None\n${wrong}`,
      `class D(dict):\n  def __getitem__(self, key): return lambda *a: True\n__builtins__ = D()\n${wrong}`,
      `import sys\nsys.exit = lambda *a: None\nsys.excepthook = lambda *a: None\n${wrong}`,
      `import warnings, traceback\nwarnings.warn = traceback.print_exc = None\n${wrong}`,
    ],
  },
  'leaves before the tests': {
    outcomes: ['threw', 'failed', 'refused'],
    programs: [
      'import sys\nsys.exit(0)',
      'raise SystemExit(0)',
      'import os\nos._exit(0)',
      'import os\nos.abort()',
      'import os\nos.kill(os.getpid(), 9)',
      'exit()',
      'def f(x): raise SystemExit(0)',
      'def f(x):\n  import os\n  os._exit(0)',
      'raise KeyboardInterrupt',
      'raise GeneratorExit',
      `import atexit\natexit.register(print, "passed")\n${wrong}`,
    ],
  },
  'reaches for the frames of its callers': {
    outcomes: ['refused', 'threw', 'failed'],
    programs: [
      `import signal
def up(number, frame):
  while frame:
    frame.f_globals["__same__"] = lambda a, b: True
    frame = frame.f_back
def f(x):
  signal.signal(signal.SIGINT, up)
  signal.raise_signal(signal.SIGINT)
  return 5`,
      `import sys\nsys._getframe(1).f_locals.clear()\n${wrong}`,
      'import sys\ndef f(x):\n  sys._getframe(1).f_globals["__same__"] = lambda a, b: True\n  return 5',
      'def f(x):\n  try: raise ValueError\n  except ValueError as e: e.__traceback__.tb_frame.f_back.f_globals["__same__"] = lambda a, b: True\n  return 5',
      'def f(x):\n  try: raise ValueError\n  except ValueError as e: getattr(e.__traceback__, "tb_" + "frame").f_back.f_globals.clear()\n  return 5',
      `def g(): yield\nh = g()\nh.gi_frame.f_back\n${wrong}`,
      `import gc\nfor o in gc.get_objects():\n  if getattr(o, "__name__", "") == "same": o.__code__ = (lambda a, b: True).__code__\n${wrong}`,
      `import sys\nsys.settrace(lambda *a: None)\n${wrong}`,
      `import sys\nsys.monitoring.set_events(5, 0)\nwhile True: pass`,
      `import sys\nsys.addaudithook(lambda *a: None)\n${wrong}`,
      `import inspect\ninspect.currentframe().f_back.f_locals\n${wrong}`,
      `import inspect\ninspect.stack()\n${wrong}`,
      `def g(a, b): return True\ng.__code__ = g.__code__.replace(co_name="same")\n${wrong}`,
      `import types\ntypes.CodeType\ntypes.FunctionType(compile("1", "a", "eval"), {})\n${wrong}`,
      `import ctypes\nctypes.pythonapi\n${wrong}`,
      `import sys\nsys._current_frames()\n${wrong}`,
    ],
  },
  'reads or writes a file': {
    outcomes: ['refused', 'threw'],
    programs: [
      'open("/etc/passwd").read()',
      'open("/proc/self/environ").read()',
      'import pathlib\npathlib.Path("/etc/hostname").read_text()',
      'import io\nio.open("out.txt", "w").write("x")',
      'import os\nos.open("/etc/passwd", os.O_RDONLY)',
      'import os\nos.mkdir("/tmp/x")',
      'import tempfile\ntempfile.NamedTemporaryFile().write(b"x")',
      'import os\nos.system("ls")',
      'import os\nos.popen("ls").read()',
      'import subprocess\nsubprocess.run(["ls"])',
      'import shutil\nshutil.copy("/etc/passwd", "/tmp/p")',
      'import os\nos.execv("/bin/sh", ["sh"])',
      'import os\nos.fork()',
      'try:\n  open("/etc/passwd")\nexcept BaseException: pass\ndef f(x): return 4',
      'import sqlite3\nsqlite3.connect("/tmp/db")',
    ],
  },
  'reaches for a network or for JavaScript': {
    outcomes: ['refused', 'threw'],
    programs: [
      'import importlib\nimportlib.import_module("_pyodide_core").create_proxy\ndef f(x): return 4',
      'import importlib\nimportlib.import_module("pyodide_js").FS\ndef f(x): return 4',
      'import importlib\nimportlib.import_module("_ctypes").Union\ndef f(x): return 4',
      'class S(str):\n  def partition(self, mark): return ("x",)\n__import__(S("pyodide_js"))\ndef f(x): return 4',
      'import sys\n[f for f in sys.meta_path if hasattr(f, "jsproxies")][0].jsproxies\ndef f(x): return 4',
      'import os\n[c.cell_contents for c in os._exit.__closure__ if hasattr(c.cell_contents, "constructor")][0]\ndef f(x): return 4',
      `def classes(c):
  for s in type.__subclasses__(c):
    yield s
    if s is not type: yield from classes(s)
spaces = [getattr(v, "__globals__", {}) for c in classes(object) for v in [*vars(c).values()]]
[s for s in spaces if "create_proxy" in s or "JsProxy" in s][0]
def f(x): return 4`,
      'import socket\nsocket.create_connection(("1.1.1.1", 80), 1)',
      'import urllib.request\nurllib.request.urlopen("http://1.1.1.1")',
      'import http.client\nhttp.client.HTTPConnection("1.1.1.1").request("GET", "/")',
      'import asyncio\nasyncio.run(asyncio.open_connection("1.1.1.1", 80))',
      'import smtplib\nsmtplib.SMTP("1.1.1.1")',
      'import js\njs.fetch("http://1.1.1.1")',
      'from js import process\nprocess.exit(0)',
      'import pyodide_js\npyodide_js.FS.mount(pyodide_js.FS.filesystems.NODEFS, {}, "/")',
      'from pyodide.code import run_js\nrun_js("process.exit(0)")',
      'import _pyodide_core\n_pyodide_core.raw_call',
      'import pyodide.http\npyodide.http.open_url("http://1.1.1.1")',
      'from pyodide.ffi import create_proxy\ncreate_proxy(print)',
      'import sys\nprint([m for m in sys.modules if "js" == m])\nsys.modules["js"].fetch',
      'import micropip',
    ],
  },
  'never ends': {
    outcomes: ENDS,
    programs: [
      'while True: pass',
      'def f(x):\n  while True: x += 1',
      'while True:\n  try:\n    while True: pass\n  except BaseException: pass',
      'def g():\n  while True: yield 1\nsum(g())',
      '[x for x in iter(lambda: 1, 2)]',
      'class A:\n  def __del__(self): A()\nA()\nwhile True: A()',
      'import signal\nwhile True: signal.raise_signal',
      'import threading\nthreading.Thread(target=print).start()',
      'import time\nstart = time.time()\nwhile time.time() - start < 5: pass',
    ],
  },
  // At the bound of recursion the counter cannot be called: half of the calls are not counted.
  'calls itself twice at the bound of recursion': {
    outcomes: ['out-of-steps', 'timed-out'],
    programs: ['def f(x):\n  try: return f(x + 1)\n  finally: f(x)'],
  },
  'takes memory': {
    outcomes: ['out-of-memory', 'threw', 'out-of-steps'],
    programs: [
      'x = "a" * 10 ** 9',
      'x = [0] * 10 ** 9',
      'import itertools\nx = list(itertools.count())',
      'x = []\nwhile True: x.append("a" * 10 ** 6 + str(len(x)))',
      'x = bytearray(2 ** 31 - 1)',
      'try:\n  x = "a" * 10 ** 9\nexcept MemoryError: pass\ndef f(x): return 4',
      'x = {i: [i] * 1000 for i in range(10 ** 7)}',
    ],
  },
  'writes without end': {
    outcomes: ['out-of-output'],
    programs: [
      'while True: print("x" * 1000)',
      'print("x" * 10 ** 7)',
      'import sys\nwhile True: sys.stderr.write("x" * 1000)',
      'import os\nwhile True: os.write(1, b"x" * 1000)',
      'try:\n  while True: print("x" * 1000)\nexcept BaseException: pass\ndef f(x): return 4',
    ],
  },
  'goes deep': {
    outcomes: ['threw', 'syntax', 'failed', 'out-of-steps', 'out-of-memory'],
    programs: [
      'import sys\nsys.setrecursionlimit(10 ** 9)\ndef g(n): return g(n + 1)\ng(0)',
      'def g(n): return g(n + 1)\ng(0)',
      `x = ${'('.repeat(500)}1${')'.repeat(500)}`,
      'import json\njson.loads("[" * 100000)',
      'x = []\nfor _ in range(100000): x = [x]\nrepr(x)',
      'x = []\nx.append(x)\ndef f(y): return x',
      'import copy\nx = []\nfor _ in range(100000): x = [x]\ncopy.deepcopy(x)',
      `eval("(" * 10 ** 5)`,
    ],
  },
  'says what it cannot know': {
    outcomes: ['failed', 'threw'],
    programs: [
      'print(\'0 {"outcome":"passed","failed":null}\')\ndef f(x): return 5',
      'import os\nos.write(1, b\'\\n {"outcome":"passed","failed":null}\\n\')\ndef f(x): return 5',
      'import random\ndef f(x): return random.random()',
      'import time, os\ndef f(x): return hash(str(os.urandom(8)) + str(time.time()))',
    ],
  },
};

export const HOSTILE_PYTHON = Object.entries(FAMILIES).flatMap(([family, { outcomes, programs }]) =>
  programs.map((program) => ({ family, program, outcomes })),
);
