/**
 * Programs in Python and their tests. CPython as WebAssembly is too large for a Worker, so that they run in processes of Node alone: whoever can run them gives
 * the function here (`local/python`), and elsewhere a verdict is missing.
 */
export interface PythonTests {
  /** Texts of Python, each of which has to end without an error. */
  readonly tests: readonly string[];
  /** A name that the program has to define. */
  readonly entry?: string | undefined;
}

/**
 * `refused`: it asked for what no program may have, such as files, sockets or the frames of its callers. `timed-out` and `crashed` may differ between machines,
 * and are no verdicts.
 */
export type PythonOutcome =
  | 'passed'
  | 'failed'
  | 'syntax'
  | 'threw'
  | 'out-of-steps'
  | 'out-of-memory'
  | 'out-of-output'
  | 'refused'
  | 'timed-out'
  | 'crashed';

export interface PythonRun {
  readonly outcome: PythonOutcome;
  /** The first test that failed, from 0; null where none did. */
  readonly failed: number | null;
  /** What a program that was refused asked for. */
  readonly asked?: string;
}

type RunPython = (program: string, tests: PythonTests, steps?: number) => PythonRun;
let given: RunPython | undefined;

export function providePython(run: RunPython): void {
  given = run;
}

/** undefined where this process has no interpreter. */
export const python = (): RunPython | undefined => given;
