/** The fake mesh's runs and their rounds, as the gateway tells of them. */
import { deriveId, Random } from '../../../core/random.ts';
import { NO_LABEL, type RunLabel } from '../../../core/schema/answers.ts';
import { type RunSettings, runIdOf } from '../../../core/schema/round.ts';
import { BEGAN } from './drawn.ts';
import { reportAt } from './report.ts';

export const trained: RunSettings = {
  recipe: 'trio',
  seed: 0,
  policy: 'trio-0',
  rewardFunction: 'mix',
  freeze: [],
  tasks: 64,
  groupSize: 8,
};

export const frozen: RunSettings = {
  ...trained,
  policy: 'trio-1',
  rewardFunction: 'judge',
  freeze: ['judge'],
};

export const ref = (version: number) => ({ name: 'trio-0', version });

/** One run; its greedy accuracy ends at `best`. */
export class Run {
  readonly id: string;
  readonly settings: RunSettings;
  readonly target: number;
  readonly best: number;
  done: number;

  constructor(settings: RunSettings, done: number, target: number, best: number) {
    this.id = runIdOf(settings);
    this.settings = settings;
    this.done = done;
    this.target = target;
    this.best = best;
  }

  label: RunLabel = NO_LABEL;

  view() {
    const { id, settings, target, done, best } = this;
    const roundState = done < target ? 'rollout' : 'done';
    return {
      id,
      settings,
      target,
      state: 'open',
      createdAt: BEGAN,
      label: this.label,
      deletedAt: null,
      done,
      roundState,
      touchedAt: BEGAN + 2400 * done,
      first: 0.342,
      last: best,
    };
  }

  round(index: number) {
    const open = index > this.done;
    const random = new Random(`fake/${this.id}/${index}`);
    return {
      id: deriveId('round', this.id, index),
      run: this.id,
      index,
      recipe: 'trio',
      state: open ? 'rollout' : 'done',
      expected: 64,
      proposed: 81,
      groups: open
        ? { rollout: 23, scored: 41, trained: 0, failed: 0 }
        : { rollout: 0, scored: 0, trained: index === 9 ? 62 : 64, failed: index === 9 ? 2 : 0 },
      reason: null,
      roles: { proposer: ref(index - 1), solver: ref(index - 1), judge: ref(index - 1) },
      version: open ? null : index,
      report: open ? null : reportAt(random, index, this.target, this.best),
      createdAt: open ? Date.now() - 1900 : BEGAN + 2400 * index,
      rolloutAt: BEGAN + 2400 * index + 300,
      trainingAt: open ? null : BEGAN + 2400 * index + 1300,
      endedAt: open ? null : BEGAN + 2400 * index + 2300,
    };
  }

  /** Newest first, as the gateway lists them. */
  rounds(limit: number, before = Number.POSITIVE_INFINITY) {
    const last = Math.min(this.done + (this.done < this.target ? 1 : 0), before - 1);
    return Array.from({ length: Math.max(0, Math.min(limit, last)) }, (_, i) => this.round(last - i));
  }
}
