/** What a learner's last words and troubles come to: told, tried again, or the end of the command. */
import { describe, expect, test } from 'vitest';
import { LearnerWatch } from '../../cli/learner-watch.ts';

const LOG = 'state/learner.log';
const event = (name: string, fields: object = {}) => JSON.stringify({ at: 'now', event: name, ...fields });

describe('a learner that ends', () => {
  test('with an error that another try cannot mend ends the command with it', () => {
    const watch = new LearnerWatch(LOG);
    const failed = {
      kind: 'wrong-input',
      code: 'learner.no-gpu',
      what: 'There is no GPU.',
      next: 'Use cpu.',
    };
    expect(watch.line(event('learner.failed', failed))).toEqual({});
    expect(watch.line('learner.no-gpu: There is no GPU. Use cpu.')).toEqual({});
    const { fatal } = watch.ended(1, null);
    expect(fatal).toMatchObject({ code: 'learner.no-gpu', message: 'There is no GPU. Use cpu.' });
  });

  test('otherwise is told with its reason, and given up at the fifth time', () => {
    const watch = new LearnerWatch(LOG);
    watch.line('error: XDG_RUNTIME_DIR is not set: harmless.');
    expect(watch.ended(null, 'SIGKILL')).toEqual({
      notice: 'the learner ended and is started again (signal SIGKILL); its log is state/learner.log',
    });
    watch.line('file:///somewhere/of/ours.ts:3');
    watch.line('TypeError: x is not a function');
    watch.line('    at somewhere (file:///of/ours.ts:3:1)');
    expect(watch.ended(1, null).notice).toContain('TypeError: x is not a function');
    // The words of the last time are not those of this one.
    expect(watch.ended(1, null).notice).toContain('exit status 1');
    expect(watch.ended(1, null).fatal).toBeUndefined();
    const { fatal } = watch.ended(7, null);
    expect(fatal).toMatchObject({ code: 'learner.ended' });
    expect(fatal?.message).toContain('exit status 7');
    expect(fatal?.message).toContain(LOG);
  });

  test('is not counted against it once it has trained a round', () => {
    const watch = new LearnerWatch(LOG);
    for (let i = 0; i < 20; i++) {
      expect(watch.ended(null, 'SIGKILL').fatal).toBeUndefined();
      watch.line(event('round.trained', { round: 'r' }));
    }
  });
});

describe('a learner in trouble', () => {
  const trouble = (code: string, message: string) =>
    event('learner.trouble', { kind: 'retry', code, message });

  test('is told once, and again after a round was trained', () => {
    const watch = new LearnerWatch(LOG);
    const words = trouble('gateway.unreachable', 'The gateway does not answer.');
    expect(watch.line(words).notice).toBe('the learner tries again: The gateway does not answer.');
    for (let i = 0; i < 100; i++) expect(watch.line(words)).toEqual({});
    watch.line(event('round.trained'));
    expect(watch.line(words).notice).toBeDefined();
  });

  test('that lasts ends the command after five minutes, and trouble that passes does not', () => {
    let now = 0;
    const watch = new LearnerWatch(LOG, () => now);
    const words = trouble('queue.unreachable', 'The queue did not take messages.');
    const troubledAfter = (seconds: number) => {
      now += seconds * 1000;
      return watch.line(words);
    };
    // Once an hour, for a day.
    for (let i = 0; i < 24; i++) expect(troubledAfter(3600).fatal).toBeUndefined();
    for (let i = 0; i < 9; i++) expect(troubledAfter(31).fatal).toBeUndefined();
    expect(troubledAfter(31).fatal).toMatchObject({
      code: 'queue.unreachable',
      message: expect.stringContaining('The queue did not take messages.'),
    });
    watch.line(event('round.trained'));
    expect(troubledAfter(31).fatal).toBeUndefined();
  });

  test('that cost a round is told with its reason', () => {
    const watch = new LearnerWatch(LOG);
    const words = event('round.failed', {
      round: 'r7',
      code: 'version.unreadable',
      message: 'Version 3 is torn.',
    });
    expect(watch.line(words)).toEqual({ notice: 'the learner gives up round r7: Version 3 is torn.' });
  });
});
