/**
 * Finds samples with their texts, by group and by id. Ids are derived, so there is no index: the ids that a round must have are
 * computed and compared, and only the object that holds the sample is read.
 */
import type { R2Bucket } from '@cloudflare/workers-types';
import { episodesOf, proposalKey } from '../../core/episodes/play-episodes.ts';
import { wrongInput } from '../../core/errors.ts';
import type { Registry } from '../../core/recipe/registry.ts';
import { judgmentId, proposalId, rolloutId, turnId } from '../../core/round/sample-ids.ts';
import type { FoundSample, GroupContent, ProposalListing } from '../../core/schema/answers.ts';
import { OUTCOMES } from '../../core/schema/outcome.ts';
import { keys } from '../../core/schema/round.ts';
import { proposals, type Sample, type ScoredGroup, scoredGroup } from '../../core/schema/sample.ts';
import type { VersionStore } from '../shared/committed.ts';
import { Reader } from '../shared/reader.ts';
import type { Database } from '../store/database.ts';
import { type GroupRow, groupsOf } from '../store/groups.ts';
import { readJson } from '../store/objects.ts';
import { getRound, listRounds, type RoundRow } from '../store/rounds.ts';
import { groupView } from './views.ts';

/** How many rounds a search without a hint looks through, newest first. */
const SEARCHED_ROUNDS = 5;
/** How many judgments of a sample, turns of an episode and batches of proposals a search derives ids for. */
const MOST_VOTES = 8;
const MOST_TURNS = 8;
const MOST_ATTEMPTS = 6;
/** The most ids that a search without a hint derives, about a second of CPU time: five rounds of the flagship's default size have 205,000. */
const MOST_DERIVED = 250_000;

/** The reader for a round's samples. Recipes may have been removed since the round was played. */
export const readerOf = (recipes: Registry, store: VersionStore, { spec }: RoundRow): Reader =>
  new Reader(store, recipes.recipes.find(({ name }) => name === spec.settings.recipe)?.describe);

/** Returns groups with their texts; what is not scored yet is null. The proposals are read once. */
export async function groupContents(
  bucket: R2Bucket,
  reader: Reader,
  row: RoundRow,
  groups: readonly GroupRow[],
): Promise<GroupContent[]> {
  const written = groups.some(({ proposal }) => proposal !== null)
    ? await readJson(bucket, keys.proposals(row.id), proposals)
    : null;
  return Promise.all(
    groups.map(async (group) => {
      const turns = written?.samples.filter((sample) => proposalKey(sample) === group.proposal) ?? [];
      const proposal = await reader.readAll(turns.map((sample) => withEarnings(sample, row)));
      const head = { ...groupView(group), title: reader.title(group.task), proposal };
      const scored = await readJson(bucket, keys.scored(row.id, group.id), scoredGroup);
      if (!scored)
        return {
          ...head,
          samples: null,
          judgments: null,
          answersExact: null,
          solutionsExact: null,
          endings: {},
        };
      const samples = await reader.readAll(scored.samples);
      return {
        ...head,
        samples,
        judgments: await reader.readAll(scored.judgments),
        answersExact: scored.answersExact,
        solutionsExact: scored.solutionsExact,
        endings: reader.endings(group.task, samples),
      };
    }),
  );
}

/** Everything that was proposed in a round, admitted or not. */
export async function proposalPage(
  bucket: R2Bucket,
  reader: Reader,
  row: RoundRow,
): Promise<ProposalListing> {
  const written = await readJson(bucket, keys.proposals(row.id), proposals);
  const groupOf = new Map(written?.tasks.map(({ proposal, group }) => [proposal, group]));
  return {
    proposals: await Promise.all(
      episodesOf(written?.samples ?? []).map(async (turns) => {
        const { outcome } = turns.at(-1)!;
        return {
          outcome,
          meaning: OUTCOMES[outcome],
          group: groupOf.get(proposalKey(turns[0]!)) ?? null,
          turns: await reader.readAll(turns.map((turn) => withEarnings(turn, row))),
        };
      }),
    ),
  };
}

/** Adds to a proposal's sample the reward that the round's report gives for it, if any. */
const withEarnings = (sample: Sample, { report }: RoundRow): Sample => {
  const reward = report?.earnings?.[proposalKey(sample)];
  return reward === undefined ? sample : { ...sample, rewards: { ...sample.rewards, reward } };
};

/** A sample, found by its id, with the place where it is. */
type StoredPlace = Omit<FoundSample, 'sample'> & {
  readonly sample: Sample;
  readonly row: RoundRow;
  /** Is it one of the round's proposals? */
  readonly proposal: boolean;
};

export async function findSample(
  db: Database,
  bucket: R2Bucket,
  wanted: string,
  round: string | undefined,
): Promise<StoredPlace | null> {
  if (round) {
    const row = await getRound(db, round);
    return row ? findInRound(db, bucket, wanted, row, true) : null;
  }
  let derived = 0;
  for (const row of await listRounds(db, { limit: SEARCHED_ROUNDS })) {
    derived += idsOf(row);
    if (derived > MOST_DERIVED)
      throw wrongInput('sample.search', 'The newest rounds have too many samples to search all of them.', {
        next: 'Name the sample’s round: add ?round=<id>.',
      });
    const found = await findInRound(db, bucket, wanted, row, false);
    if (found) return found;
  }
  return null;
}

/** How many ids a search of the round derives. */
function idsOf({ spec, expected }: RoundRow): number {
  const roles = Object.keys(spec.roles).length;
  const { groupSize, tasks } = spec.settings;
  const ofRollout = 1 + MOST_TURNS + (roles - 1) * MOST_VOTES;
  return roles * (expected * groupSize * ofRollout + 2 * tasks * (1 + MOST_ATTEMPTS));
}

/** Is `wanted` the id of a rollout of this group by one of the roles, of one of its turns, or of another role's judgment of it? */
function isDerivedFrom(group: string, { spec }: RoundRow, wanted: string): boolean {
  const roles = Object.keys(spec.roles);
  for (const role of roles)
    for (let i = 0; i < spec.settings.groupSize; i++) {
      const rollout = rolloutId(group, role, i);
      if (rollout === wanted) return true;
      for (let turn = 0; turn < MOST_TURNS; turn++) if (turnId(rollout, turn) === wanted) return true;
      for (const judge of roles.filter((other) => other !== role))
        for (let vote = 0; vote < MOST_VOTES; vote++)
          if (judgmentId(rollout, judge, vote) === wanted) return true;
    }
  return false;
}

/** Looks for a sample in a round. `everywhere` reads every group, for recipes whose sample ids are derived in another way. */
async function findInRound(
  db: Database,
  bucket: R2Bucket,
  wanted: string,
  row: RoundRow,
  everywhere: boolean,
): Promise<StoredPlace | null> {
  const { id } = row;
  for (const { id: group, index, task } of await groupsOf(db, id)) {
    if (!everywhere && !isDerivedFrom(group, row, wanted)) continue;
    const scored = await readJson(bucket, keys.scored(id, group), scoredGroup);
    const sample = scored && inGroup(scored, wanted);
    if (sample) return { round: id, group, index, task, sample, row, proposal: false };
  }
  return findProposal(bucket, wanted, row, everywhere);
}

const inGroup = ({ samples, judgments }: ScoredGroup, wanted: string) =>
  [...samples, ...judgments].find((sample) => sample.id === wanted);

/** Is it a proposal's id? A batch has at most twice as many proposals as the round has tasks; deriving unused ids costs nothing. */
function isProposedIn({ id, spec }: RoundRow, wanted: string): boolean {
  for (const role of Object.keys(spec.roles))
    for (let i = 0; i < 2 * spec.settings.tasks; i++) {
      if (proposalId(id, role, i) === wanted) return true;
      for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++)
        if (proposalId(id, role, i, attempt) === wanted) return true;
    }
  return false;
}

async function findProposal(
  bucket: R2Bucket,
  wanted: string,
  row: RoundRow,
  everywhere: boolean,
): Promise<StoredPlace | null> {
  const { id, proposed } = row;
  if (proposed === 0 || !(everywhere || isProposedIn(row, wanted))) return null;
  const written = await readJson(bucket, keys.proposals(id), proposals);
  const sample = written?.samples.find((candidate) => candidate.id === wanted);
  if (!sample) return null;
  const admitted = written?.tasks.find(({ proposal }) => proposal === (sample.of ?? sample.id));
  return {
    round: id,
    group: admitted?.group ?? null,
    index: admitted?.index ?? null,
    task: admitted?.task ?? null,
    sample: withEarnings(sample, row),
    row,
    proposal: true,
  };
}
