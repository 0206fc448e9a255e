import { RollmeshError } from 'rollmesh';

/** Ends the process: an expected failure prints its message, anything else is a bug and keeps its stack. */
export function failed(error: unknown): never {
  console.error(error instanceof RollmeshError ? `${error.code}: ${error.message}` : error);
  process.exit(1);
}
