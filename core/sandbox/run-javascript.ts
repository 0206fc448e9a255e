/** The tool `run_javascript` for whoever holds an episode in a process of his own. */
import { quickJs } from './quickjs.ts';
import { type ProgramRun, runProgram, TOOL_STEPS } from './run-program.ts';

/** Runs a program as `--tools run_javascript` does: without files, network, clock and chance, and to the same text on every machine. */
export const runJavaScript = (
  code: string,
  { steps = TOOL_STEPS }: { readonly steps?: number } = {},
): ProgramRun => runProgram(quickJs(), code, { steps });
