/** A mesh that waits for orders, from the terminal that serves it and from the one that orders, as persons at both see them. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { INTERNALS, runCommand } from './terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollmesh-served-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The learner that the command with this process id starts; it may take a moment. */
async function learnerOf(pid: number): Promise<number> {
  for (;;) {
    const processes = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n');
    const found = processes
      .map((line) => /^ *(\d+) +(\d+) .* learner --/.exec(line))
      .find((match) => Number(match?.[2]) === pid);
    if (found) return Number(found[1]);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

test('orders are followed at both terminals, a killed learner is a line, Ctrl-C says what ran', async () => {
  const said = new EventTarget();
  let text = '';
  let interrupt: (signal: NodeJS.Signals) => void = () => {};
  let server = 0;
  const says = async (pattern: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const found = pattern.exec(text);
      if (found) return found;
      await once(said, 'text');
    }
  };
  const args = ['start', '--serve', '--port', '0', '--state', join(folder, 'state')];
  const serving = runCommand('cli/rollmesh.ts', args, (all, kill, pid) => {
    text = all;
    interrupt = kill;
    server = pid;
    said.dispatchEvent(new Event('text'));
  });
  const [, url] = await says(/The mesh is up at (\S+) and takes webhooks\. Ctrl-C ends it\./);
  process.kill(await learnerOf(server), 'SIGKILL');
  await says(/^ {2}! the learner ended and is started again \(signal SIGKILL\); its log is \S+$/m);

  const small = ['--recipe', 'trio', '--tasks-per-round', '2', '--group-size', '2', '--engine', 'kernels'];
  const order = (...more: string[]) => runCommand('cli/rollmesh.ts', ['trigger', url!, ...small, ...more]);
  const waited = await order('--wait');
  expect(waited).toMatchObject({ code: 0, stderr: '' });
  expect(waited.stdout).toMatch(/^trio trains \S+: 1 round of 2 tasks × 2 solutions/m);
  expect(waited.stdout).toMatch(/^round +tok\/s [\s\S]*^1\/1 ██████████ /m);
  await says(
    /^trio trains \S+: 1 round of [\s\S]+^1\/1 [\s\S]+^After 1 round, .*did not change\s+beyond\s+chance/m,
  );
  // What is proposed next can be pasted.
  await says(/^Next:\n {2}npx rollmesh policy eval \S+ 1 --tasks FILE --state \S+$/m);

  const ordered = await order('--seed', '1', '--rounds', '30');
  expect(ordered.code).toBe(0);
  const [, run] = /^watch it: http:\/\/127\.0\.0\.1:\d+\/#run=([0-9a-f]{32})$/m.exec(ordered.stdout)!;
  await says(new RegExp(`watch it at ${url}/#run=${run}`));
  await says(/^ *1\/30 /m);
  interrupt('SIGINT');
  const { code, stdout, stderr } = await serving;
  expect(stdout).toMatch(/^Stopped after round \d+ of 30\. The same command goes on from here\.$/m);
  expect(stdout + stderr).not.toMatch(INTERNALS);
  expect(code).toBe(0);

  const lost = await order('--wait');
  expect(lost.code).toBe(1);
  expect(lost.stderr).toMatch(/^gateway\.\S+: /m);
  expect(lost.stderr).not.toMatch(INTERNALS);
});
