/** Lets the checker of programs in Python run them, in commands that check answers in this process. */
import type { Checker } from '../../core/checkers/checker.ts';
import { pythonChecker } from '../../core/checkers/python.ts';
import { providePython } from '../../core/sandbox/python.ts';

/** Throws `python.missing` where such programs are to be checked and the interpreter is not installed. */
export async function withPython({ name }: Checker): Promise<void> {
  if (name !== pythonChecker.name) return;
  const { preparePython, runPythonSync } = await import('../../local/python/run-python.ts');
  preparePython();
  providePython(runPythonSync);
}
