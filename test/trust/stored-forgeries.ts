/**
 * What somebody does to a round who can write to the object store (R2), to the database (D1) or to both, and perhaps holds
 * the mesh's key. Whatever the key allows to be sealed is sealed.
 */
import { openRoundContext } from '../../core/recipe/round-context.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import { keys } from '../../core/schema/round.ts';
import type { Proposals, RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import type { HonestRound } from './honest-round.ts';
import { copyOf, type GroupRow, putObject, putVersion, type StoredRound, sealAll } from './stored-round.ts';

export interface StoredForgery {
  readonly name: string;
  /** Where it is written. */
  readonly where: 'R2' | 'D1' | 'R2 and D1';
  /** Returns the groups that must not be trained on. `round` is the forger's own copy, sealed as the judge sealed it. */
  readonly forge: (round: StoredRound, honest: HonestRound) => readonly string[] | Promise<readonly string[]>;
  /** The judge itself seals it, because it was there before the judge read it: no key is needed. */
  readonly sealedByJudge?: boolean;
}

/** The forged copy of a round and what must not be trained of it; `key`: the forger seals all of it anew. */
export async function forgeStored(
  forgery: StoredForgery,
  stored: StoredRound,
  honest: HonestRound,
  key: boolean,
): Promise<{ round: StoredRound; affected: readonly string[] }> {
  const round = copyOf(stored);
  const affected = await forgery.forge(round, honest);
  if (key || forgery.sealedByJudge) sealAll(round);
  return { round, affected };
}

const readObject = (round: StoredRound, key: string): unknown =>
  JSON.parse(new TextDecoder().decode(round.objects.get(key)));

const allOf = ({ rows }: StoredRound) => rows.map(({ group }) => group);

/** Changes the record of the first group; `noted`: the database's hash of it, too. */
function changeFirst(round: StoredRound, change: (scored: ScoredGroup) => void, noted: boolean): string[] {
  const row = round.rows[0]!;
  const key = keys.scored(round.spec.id, row.group);
  const scored = readObject(round, key) as ScoredGroup;
  change(scored);
  const sha256 = putObject(round, key, scored);
  if (noted) row.sha256 = sha256;
  return [row.group];
}

const lowerLogprob = (scored: ScoredGroup) => {
  scored.samples[0]!.logprobs[0]! -= 0.001;
};

/** A record as honest Workers come to it from rollouts that they were handed. */
async function judged(honest: HonestRound, rolled: readonly RolloutGroup[]): Promise<ScoredGroup[]> {
  const { recipe, round } = honest.record;
  return recipe.judge(openRoundContext({ recipe, round, ...honest.tools }), rolled);
}

const storeScored = (round: StoredRound, row: GroupRow, scored: ScoredGroup) => {
  row.sha256 = putObject(round, keys.scored(round.spec.id, row.group), scored);
};

/** The rollouts of the first group are changed after the rollout Worker stored them and before the judge reads them. */
async function changeRollouts(
  round: StoredRound,
  honest: HonestRound,
  change: (rolled: RolloutGroup) => void,
): Promise<string[]> {
  const row = round.rows[0]!;
  const {
    judgments: _j,
    answersExact: _g,
    solutionsExact: _t,
    ...rest
  } = structuredClone(honest.record.groups[0]!);
  const rolled: RolloutGroup = {
    ...rest,
    samples: rest.samples.map((sample) => ({ ...sample, rewards: {} })),
  };
  change(rolled);
  storeScored(round, row, (await judged(honest, [rolled]))[0]!);
  return [row.group];
}

function changeProposals(round: StoredRound, change: (proposals: Proposals) => void): void {
  const key = keys.proposals(round.spec.id);
  const proposals = readObject(round, key) as Proposals;
  change(proposals);
  round.proposalsSha256 = putObject(round, key, proposals);
}

/** Weights that are another model's by a little: the last bytes of the last tensor. */
function poisoned({ files }: HonestRound): VersionFiles {
  const weights = files['model.safetensors']!.slice();
  const view = new DataView(weights.buffer);
  const at = weights.length - 4;
  view.setFloat32(at, view.getFloat32(at, true) + 0.5, true);
  return { ...files, 'model.safetensors': weights };
}

export const STORED_FORGERIES: readonly StoredForgery[] = [
  {
    name: 'a group’s record',
    where: 'R2',
    forge: (round) => changeFirst(round, lowerLogprob, false),
  },
  {
    name: 'a group’s record, and its hash',
    where: 'R2 and D1',
    forge: (round) => changeFirst(round, lowerLogprob, true),
  },
  {
    name: 'a space in the proposals, with forged groups',
    where: 'R2 and D1',
    forge: (round) => {
      changeFirst(round, lowerLogprob, true);
      const key = keys.proposals(round.spec.id);
      const text = new TextDecoder().decode(round.objects.get(key));
      round.objects.set(key, new TextEncoder().encode(`${text} `));
      return allOf(round);
    },
  },
  {
    name: 'a version’s weights with their manifest',
    where: 'R2',
    forge: (round, honest) => {
      putVersion(round, poisoned(honest), round.spec.settings.policy);
      return allOf(round);
    },
  },
  {
    name: 'the round’s reward',
    where: 'D1',
    forge: (round) => {
      round.spec.settings.rewardFunction = 'random';
      return allOf(round);
    },
  },
  {
    name: 'the roles that are frozen',
    where: 'D1',
    forge: (round) => {
      round.spec.settings.freeze = ['proposer'];
      return allOf(round);
    },
  },
  {
    name: 'groups left out of the list',
    where: 'D1',
    forge: (round) => {
      round.rows.splice(1);
      return allOf(round);
    },
  },
  {
    name: 'groups left out of list and proposals',
    where: 'R2 and D1',
    forge: (round) => {
      round.rows.splice(1);
      const [kept] = allOf(round);
      changeProposals(round, (proposals) => {
        proposals.tasks = proposals.tasks.filter(({ group }) => group === kept);
      });
      return allOf(round);
    },
  },
  {
    name: 'a group failed without a reason',
    where: 'D1',
    forge: (round) => {
      round.rows[0]!.state = 'failed';
      return allOf(round);
    },
  },
  {
    name: 'a group twice, under another’s name',
    where: 'R2 and D1',
    forge: (round) => {
      const [one, two] = round.rows as [GroupRow, GroupRow];
      const record = readObject(round, keys.scored(round.spec.id, two.group)) as ScoredGroup;
      const { group, index, task, proposal } = record;
      const copy = readObject(round, keys.scored(round.spec.id, one.group)) as ScoredGroup;
      storeScored(round, two, { ...copy, group, index, task, proposal });
      return [two.group];
    },
  },
  {
    name: 'tasks exchanged before they are solved',
    where: 'D1',
    sealedByJudge: true,
    forge: async (round, honest) => {
      const { recipe, round: spec, proposals } = honest.record;
      const context = openRoundContext({ recipe, round: spec, ...honest.tools });
      const tasks = proposals.tasks.map((task) => ({ ...task, task: '1+1' }));
      const scored = await judged(honest, await recipe.rollOut(context, tasks));
      for (const [i, row] of round.rows.entries()) storeScored(round, row, scored[i]!);
      return allOf(round);
    },
  },
  {
    name: 'rollouts before they are judged: an impossible log-probability',
    where: 'R2',
    sealedByJudge: true,
    forge: (round, honest) =>
      changeRollouts(round, honest, ({ samples: [sample] }) => {
        sample!.logprobs[0] = 0.5;
      }),
  },
  {
    name: 'rollouts before they are judged: a possible one',
    where: 'R2',
    sealedByJudge: true,
    forge: (round, honest) =>
      changeRollouts(round, honest, ({ samples: [sample] }) => {
        sample!.logprobs[0]! -= 0.001;
      }),
  },
];
