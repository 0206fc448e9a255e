/**
 * One program in Python and its tests, in a process of their own that is over with them. The interpreter is CPython as WebAssembly (Pyodide). Node’s permission
 * model leaves this process the files of the interpreter to read and nothing else, and before the program runs it loses everything by which JavaScript reaches a
 * network. Time stands still, chance is the same each time, and what a program takes is counted:
 *
 * - steps, by the interpreter’s monitoring of lines, jumps and calls: as many on every machine;
 * - memory, by the growth of the interpreter’s own;
 * - output, in bytes.
 *
 * Whoever reaches a limit, or asks for what is refused (frames of callers, files, sockets, the interpreter’s JavaScript), ends the process at once, so that no
 * program can catch it. What it came to is the only line that is written, behind a word that the program cannot know.
 */
import { constants, readFileSync, writeSync } from 'node:fs';

const { pyodide, snapshot, nonce, program, tests, entry, limits } = JSON.parse(readFileSync(0, 'utf8'));
const exit = process.reallyExit.bind(process);
const write = writeSync;
const say = (outcome, failed = null, asked = undefined) => {
  write(1, `${nonce} ${JSON.stringify({ outcome, failed, asked })}\n`);
  exit(0);
};

// Pyodide asks for these numbers by a function that Node’s permission model takes away.
process.binding = () => ({ fs: constants });
let chance = 0x9e3779b9;
globalThis.crypto.getRandomValues = (array) => {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  for (let i = 0; i < bytes.length; i++) {
    chance = (Math.imul(chance, 1664525) + 1013904223) >>> 0;
    bytes[i] = chance >>> 24;
  }
  return array;
};
const NOW = Date.UTC(2000, 0, 1);
Date.now = () => NOW;
performance.now = () => 0;

/** What programs often import, what is used below, and all that is written in C, since a program can make none of that anew: it is in the snapshot. */
const IMPORTS = `
import ast, builtins, bisect, collections, copy, datetime, decimal, fractions, functools, heapq, itertools, json, math
import operator, os, posix, random, re, signal, statistics, string, sys, time, types, typing
import _imp, _signal
for module in sys.builtin_module_names:
    if module != '_ctypes':
        __import__(module)
`;
const { loadPyodide } = await import(pyodide);
const asked = {
  jsglobals: Object.create(null),
  env: { PYTHONHASHSEED: '0', HOME: '/home/pyodide' },
  stdin: () => null,
};
if (program === undefined) {
  const made = await loadPyodide({ ...asked, _makeSnapshot: true });
  made.runPython(IMPORTS);
  await new Promise((resolve) => process.stdout.write(made.makeMemorySnapshot(), resolve));
  exit(0);
}
const py = await loadPyodide({ ...asked, _loadSnapshot: readFileSync(snapshot) });

const most = py._module.HEAPU8.length + limits.memory;
const { grow } = WebAssembly.Memory.prototype;
WebAssembly.Memory.prototype.grow = function (pages) {
  if (this.buffer.byteLength + 65_536 * pages > most) say('out-of-memory');
  return Reflect.apply(grow, this, [pages]);
};
let written = 0;
const count = (bytes) => {
  written += bytes.length;
  if (written > limits.output) say('out-of-output');
  return bytes.length;
};
py.setStdout({ write: count });
py.setStderr({ write: count });

/** Ends the process for a reason that is no verdict in the program’s favour. */
const REASONS = new Set(['out-of-steps', 'refused']);
const over = (reason, asked) =>
  say(
    REASONS.has(reason) ? reason : 'refused',
    null,
    asked === undefined ? asked : String(asked).slice(0, 80),
  );

const made = py.runPython(
  `${IMPORTS}
# What the program changes in the module is not what the judge uses.
__builtins__ = {**builtins.__dict__}
def make(over, most):
    exact = type
    numbers = frozenset([int, float, complex, bool])
    plain = frozenset([str, bytes, type(None)])
    lists = frozenset([list, tuple, collections.deque])
    maps = frozenset([dict, collections.OrderedDict, collections.defaultdict, collections.Counter])
    sets = frozenset([set, frozenset])
    known = numbers | plain | lists | maps | sets | frozenset([fractions.Fraction, decimal.Decimal, range, bytearray])

    def same(a, b):
        """Equality whose answer an object of the program cannot give where the other side is a value of the language."""
        one, other = exact(a), exact(b)
        if one in numbers and other in numbers or one in plain and one is other:
            return a == b
        if one in lists and other in lists and (one is other):
            if len(a) != len(b):
                return False
            for x, y in zip(a, b):
                if not same(x, y):
                    return False
            return True
        if one in maps and other in maps:
            if len(a) != len(b):
                return False
            for key in a:
                if exact(key) not in known or key not in b or not same(a[key], b[key]):
                    return False
            return True
        if one in sets and other in sets:
            for item in a:
                if exact(item) not in known:
                    return False
            return a == b
        if (one in known) != (other in known):
            return False
        return bool(a == b)

    class Equal(ast.NodeTransformer):
        def visit_Compare(self, node):
            self.generic_visit(node)
            if len(node.ops) != 1 or exact(node.ops[0]) not in (ast.Eq, ast.NotEq):
                return node
            call = ast.Call(ast.Name(SAME, ast.Load()), [node.left, node.comparators[0]], [])
            return call if exact(node.ops[0]) is ast.Eq else ast.UnaryOp(ast.Not(), call)

    SAME = '__same__'

    def compiled(test):
        tree = Equal().visit(ast.parse(test, '<test>'))
        return compile(ast.fix_missing_locations(tree), '<test>', 'exec')

    left = most

    def tick(*_):
        nonlocal left
        left -= 1
        if left < 0:
            over('out-of-steps')

    frames = frozenset(['tb_frame', 'gi_frame', 'cr_frame', 'ag_frame'])
    events = frozenset(['sys._getframe', 'sys._current_frames', 'sys._current_exceptions', 'sys.settrace', 'sys.setprofile',
        'sys.addaudithook', 'code.__new__', 'function.__new__', 'cpython.PyInterpreterState_New'])
    closed = ('socket.', 'subprocess.', 'signal.', 'ctypes.', 'gc.', 'os.', 'shutil.', 'urllib.', 'ftplib.', 'smtplib.', 'sqlite3.', 'winreg.', 'webbrowser.')
    banned = frozenset(['js', 'gc', 'ctypes', '_ctypes', 'socket', '_socket', 'subprocess', 'multiprocessing', 'pyodide_js', '_pyodide_core', 'pyodide', '_pyodide'])
    on = False

    def hook(event, args):
        if not on:
            return
        if event in events or event.startswith(closed):
            if event not in ('os.listdir', 'os.scandir'):
                over('refused', event)
        if event == 'open':
            path = args[0]
            if exact(path) is not str or not path.startswith('/lib/'):
                over('refused', f'open {path}')
        elif event == 'import':
            if exact(args[0]) is not str or args[0].partition('.')[0] in banned:
                over('refused', f'import {args[0]}')
        elif event == 'object.__getattr__':
            if args[1] in frames:
                over('refused', args[1])
        elif event in ('object.__setattr__', 'object.__delattr__'):
            if args[1] == '__code__':
                over('refused', args[1])

    def start():
        nonlocal on
        time.sleep = lambda seconds: None
        def refuse(*_):
            raise ValueError('The limit of recursion cannot be changed.')
        sys.setrecursionlimit = refuse
        # A handler of a signal is given the frame that it interrupts.
        left_out = {('os', os, posix): ('_exit', 'abort', 'kill', 'killpg', 'fork', 'forkpty'), ('signal', signal, _signal): ('signal',)}
        for (of, *modules), names in left_out.items():
            for name in names:
                # No closure over the function of JavaScript: whoever has that reaches all of it.
                def leave(*_, event=f'{of}.{name}', audit=sys.audit):
                    audit(event)
                for module in modules:
                    if hasattr(module, name):
                        setattr(module, name, leave)
        # importlib asks no hook, and classes lead to the modules of their methods: neither finds anything of JavaScript.
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder.__module__.startswith('_frozen_importlib')]
        del _imp.create_builtin
        for name in [*sys.modules]:
            first = name.partition('.')[0]
            if first in banned or first.startswith('_pyodide'):
                module = sys.modules.pop(name)
                if 'pyodide' in first and exact(module) is types.ModuleType:
                    module.__dict__.clear()
        monitoring = sys.monitoring
        of = monitoring.events
        monitoring.use_tool_id(5, 'steps')
        for event in (of.LINE, of.JUMP, of.PY_START):
            monitoring.register_callback(5, event, tick)
        del sys.monitoring, sys.settrace, sys.setprofile
        sys.addaudithook(hook)
        on = True
        monitoring.set_events(5, of.LINE | of.JUMP | of.PY_START)

    kept = {}

    def keep():
        for name, module in sys.modules.items():
            if exact(module) is types.ModuleType:
                kept[name] = (module, dict(module.__dict__))

    def restore():
        for module, values in kept.values():
            own = module.__dict__
            for name in [*own]:
                if name not in values:
                    del own[name]
            own.update(values)

    def tried(test, space):
        try:
            exec(test, space)
        except MemoryError:
            return 'out-of-memory'
        except BaseException:
            return 'failed'
        return 'passed'

    def spaceOf(own):
        return {**own, SAME: same, '__builtins__': {**kept['builtins'][1]}}

    return compiled, start, keep, restore, tried, spaceOf

def run(code, space):
    try:
        exec(code, space)
    except MemoryError:
        return 'out-of-memory'
    except BaseException:
        return 'threw'
    return 'passed'

make, run
`,
  { globals: py.toPy({ __name__: 'judge' }) },
);
const [make, run] = made;
const [compiled, start, keep, restore, tried, spaceOf] = make(over, limits.steps);
const compile = py.globals.get('compile') ?? py.runPython('compile');
const checks = tests.map((test) => compiled(test));
let code;
try {
  code = compile(program, '<program>', 'exec');
} catch {
  say('syntax');
}
const space = py.toPy({ __name__: 'program' });
for (const name of [
  'fetch',
  'WebSocket',
  'EventSource',
  'XMLHttpRequest',
  'BroadcastChannel',
  'Worker',
  'navigator',
  'require',
  'module',
])
  delete globalThis[name];
process.getBuiltinModule = undefined;
// What is put back before the tests is what the program found, without what was taken away.
start();
keep();
const ran = run(code, space);
restore();
if (ran !== 'passed') say(ran);
if (entry !== undefined && !space.has(entry)) say('failed', 0);
const own = spaceOf(space);
for (const [at, check] of checks.entries()) {
  restore();
  const outcome = tried(check, own);
  if (outcome !== 'passed') say(outcome, at);
}
say('passed');
