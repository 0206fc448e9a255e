/**
 * Runs programs in Python with their tests, each in a process of its own (`child.mjs`). The interpreter, Pyodide, is a package that whoever wants it installs
 * beside this one. Its memory after its start is kept as a snapshot, so that a program begins a second sooner.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { wrongInput } from '../../core/errors.ts';
import type { PythonOutcome, PythonRun, PythonTests } from '../../core/sandbox/python.ts';
import { CACHES } from '../mesh/installation.ts';

/** The version that is installed, and whose verdicts are known. */
export const PYODIDE = '0.29.5';
/** Lines, jumps and calls of a program and its tests together. */
export const PYTHON_STEPS = 5_000_000;
const MEMORY_BYTES = 128 << 20;
const OUTPUT_BYTES = 64 << 10;
/** After so long a program is given up, the start of the interpreter included, ms. Only what spends its time in one step comes to it. */
export const LONGEST_MS = 30_000;
const STACK_KB = 4000;
/** V8's own heap holds next to nothing of a program. */
const HEAP_MB = 256;

const MISSING = `npm install --no-save --ignore-scripts pyodide@${PYODIDE}`;

/** The folder of the package. Throws `python.missing` of kind `wrong-input` where it is not installed, or another version is. */
function folder(): string {
  const refuse = (what: string, cause?: unknown) =>
    wrongInput('python.missing', what, {
      expected: `pyodide ${PYODIDE}`,
      next: `Install it beside rollmesh: \`${MISSING}\`.`,
      cause,
    });
  const require = createRequire(import.meta.url);
  let at: string;
  try {
    at = require.resolve('pyodide/package.json');
  } catch (error) {
    throw refuse('Programs in Python need the package pyodide, which is not installed.', error);
  }
  const { version } = require(at) as { version: string };
  if (version !== PYODIDE) throw refuse(`pyodide ${version} is installed.`);
  return dirname(at);
}

const CHILD = fileURLToPath(new URL('./child.mjs', import.meta.url));
const argumentsOf = (...readable: readonly string[]): string[] => [
  '--permission',
  ...readable.map((path) => `--allow-fs-read=${path}`),
  '--disallow-code-generation-from-strings',
  `--max-old-space-size=${HEAP_MB}`,
  '--no-warnings',
  // Programs are short: what V8 would spend on fast code is more than they take.
  '--liftoff-only',
  // So deep that the interpreter’s own bound of recursion comes first, which a program may catch, in KB.
  `--stack-size=${STACK_KB}`,
  CHILD,
];
/** Nothing of this process's environment is the program's to know. */
const ENVIRONMENT = { env: {}, windowsHide: true } as const;

interface Prepared {
  readonly pyodide: string;
  readonly snapshot: string;
}
let prepared: Prepared | undefined;

/** The interpreter and its snapshot, which is made where it is missing. Throws `python.missing`, and `python.start` where the interpreter does not start. */
export function preparePython(): Prepared {
  if (prepared) return prepared;
  const package_ = folder();
  const pyodide = join(package_, 'pyodide.mjs');
  // What is imported before it is made is in the child's text.
  const child = createHash('sha256').update(readFileSync(CHILD)).digest('hex').slice(0, 8);
  const snapshot = join(
    CACHES,
    'rollmesh',
    `pyodide-${PYODIDE}-node-${process.versions.node}-${child}.snapshot`,
  );
  if (!existsSync(snapshot)) {
    const { stdout, stderr, status } = spawnSync(process.execPath, argumentsOf(package_, CHILD), {
      ...ENVIRONMENT,
      input: JSON.stringify({ pyodide }),
      maxBuffer: 1 << 28,
    });
    if (status !== 0 || stdout.length < 1 << 20)
      throw wrongInput('python.start', `Pyodide does not start: ${stderr.toString().trim().slice(-300)}`, {
        next: `Install it again: \`${MISSING}\`.`,
      });
    mkdirSync(dirname(snapshot), { recursive: true });
    const whole = `${snapshot}.${process.pid}`;
    writeFileSync(whole, stdout);
    renameSync(whole, snapshot);
  }
  prepared = { pyodide, snapshot };
  return prepared;
}

const outcomes = [
  'passed',
  'failed',
  'syntax',
  'threw',
  'out-of-steps',
  'out-of-memory',
  'out-of-output',
  'refused',
] as const satisfies readonly PythonOutcome[];
const told = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    outcome: v.picklist(outcomes),
    failed: v.nullable(v.number()),
    asked: v.exactOptional(v.string()),
  }),
);

/** What the process said, behind its word; where it said nothing it took too long, or broke down. */
function runOf(stdout: string, nonce: string, tookTooLong: boolean): PythonRun {
  const line = stdout.split('\n').find((one) => one.startsWith(`${nonce} `));
  const read = line === undefined ? undefined : v.safeParse(told, line.slice(nonce.length + 1));
  if (read?.success) return read.output;
  return { outcome: tookTooLong ? 'timed-out' : 'crashed', failed: null };
}

function asked(program: string, { tests, entry }: PythonTests, steps: number) {
  const { pyodide, snapshot } = preparePython();
  const nonce = randomBytes(24).toString('hex');
  const limits = { steps, memory: MEMORY_BYTES, output: OUTPUT_BYTES };
  return {
    nonce,
    args: argumentsOf(dirname(pyodide), CHILD, snapshot),
    input: JSON.stringify({
      pyodide,
      snapshot,
      nonce,
      program,
      tests,
      ...(entry === undefined ? {} : { entry }),
      limits,
    }),
  };
}

/** Waits for the verdict, as a checker has to. */
export function runPythonSync(program: string, tests: PythonTests, steps = PYTHON_STEPS): PythonRun {
  const { nonce, args, input } = asked(program, tests, steps);
  const { stdout, signal } = spawnSync(process.execPath, args, {
    ...ENVIRONMENT,
    input,
    timeout: LONGEST_MS,
    killSignal: 'SIGKILL',
    maxBuffer: 1 << 16,
  });
  return runOf(stdout.toString(), nonce, signal === 'SIGKILL');
}

/** The same, while others run beside it. */
export function runPython(program: string, tests: PythonTests, steps = PYTHON_STEPS): Promise<PythonRun> {
  const { nonce, args, input } = asked(program, tests, steps);
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { ...ENVIRONMENT, stdio: ['pipe', 'pipe', 'ignore'] });
    let stdout = '';
    let tookTooLong = false;
    const timer = setTimeout(() => {
      tookTooLong = true;
      child.kill('SIGKILL');
    }, LONGEST_MS);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout = (stdout + text).slice(0, 1 << 16);
    });
    child.on('error', reject);
    child.on('close', () => {
      clearTimeout(timer);
      resolve(runOf(stdout, nonce, tookTooLong));
    });
    // One that is over before it has read everything says so by its exit.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}
