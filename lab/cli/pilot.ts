/** The time of a pilot, noted as its runs end, so that what a pilot took counts that is stopped before its end. */
import type { Summary } from 'rollmesh/local';
import { expectPilotTime, writePilot } from './registered.ts';
import type { ArmRun } from './run-arms.ts';

/**
 * A pilot that begins now, on this commit. What is returned is called as each of its runs ends. It throws `claims.pilots` where runs are left
 * and the claim's pilots have taken all the time that they may.
 */
export function notedPilot(
  recipe: string,
  commit: string,
): (ended: Summary, runs: readonly ArmRun[]) => Promise<void> {
  const at = new Date().toISOString();
  const times: number[] = [];
  let written = Promise.resolve();
  return async ({ wallMs }, runs) => {
    times.push(wallMs);
    const left = runs.length - times.length;
    const pilot = {
      at,
      commit,
      minutes: Number((times.reduce((sum, ms) => sum + ms, 0) / 60_000).toFixed(1)),
      arms: [...new Set(runs.map(({ arm }) => arm.name))],
      seeds: new Set(runs.map(({ seed }) => seed)).size,
      rounds: runs[0]!.rounds,
      ...(left ? { runs: times.length } : {}),
    };
    // Two runs may end at once; the file is read and written by one after the other.
    written = written.then(() => writePilot(recipe, pilot));
    await written;
    // The last runs may have ended meanwhile.
    if (times.length < runs.length) await expectPilotTime(recipe);
  };
}
