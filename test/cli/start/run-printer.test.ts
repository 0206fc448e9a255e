/** What is under way spins on a terminal, below the lines that are printed meanwhile, and nowhere else. */
import { stripVTControlCharacters } from 'node:util';
import { afterEach, expect, test, vi } from 'vitest';
import { textPrinter } from '../../../cli/start/run-printer.ts';

const { stdout } = process;
const before = Object.getOwnPropertyDescriptors(stdout);
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  for (const name of ['isTTY', 'columns', 'cursorTo', 'clearLine', 'moveCursor'] as const)
    if (before[name]) Object.defineProperty(stdout, name, before[name]);
    else Reflect.deleteProperty(stdout, name);
});

/** What standard output gets while `print` runs: as a terminal of so many columns, or as a file; with `CI` set or not. */
async function written(
  columns: number | null,
  ci: string | undefined,
  print: (printer: Awaited<ReturnType<typeof textPrinter>>) => void,
) {
  let text = '';
  vi.stubEnv('CI', ci);
  const set = (name: string, value: unknown) =>
    Object.defineProperty(stdout, name, { value, configurable: true, writable: true });
  set('isTTY', columns !== null);
  set('columns', columns ?? undefined);
  for (const name of ['cursorTo', 'clearLine', 'moveCursor']) set(name, () => true);
  vi.spyOn(stdout, 'write').mockImplementation((chunk) => {
    text += chunk;
    return true;
  });
  vi.spyOn(console, 'log').mockImplementation((line) => void stdout.write(`${line}\n`));
  print(await textPrinter());
  vi.restoreAllMocks();
  return stripVTControlCharacters(text);
}

test('on a terminal the status spins below what is said, cut to its width, and ends with the run', async () => {
  const text = await written(30, undefined, (printer) => {
    printer.status('round 1 is proposed by version 0');
    printer.notice('the learner restarted');
    printer.stopped(1, 4);
  });
  const [said, spun, ...end] = text.split('\n');
  expect(said).toMatch(/^\S round 1 is proposed by ve….*the learner restarted$/);
  expect(spun).toMatch(/^\S round 1 is proposed by ve…$/);
  expect(end.join('\n')).toMatch(/^\s*Stopped after round 1 of 4/);
});

test.each([
  ['in a file', null, undefined],
  ['on a terminal without a width', 0, undefined],
  ['on a build server', 30, 'true'],
])('%s only lines are told', async (_, columns, ci) => {
  const text = await written(columns, ci, (printer) => {
    printer.status('round 1 is proposed by version 0');
    printer.notice('the learner restarted');
    printer.status('');
  });
  expect(text).toMatch(/^\s*\S* ?the learner restarted\n$/);
});
