/**
 * Finds samples with their texts, by group and by id. Ids are derived, so there is no index: the ids that a round must have are
 * computed and compared, and only the object that holds the sample is read.
 */
import { turnId } from '../../core/episode.ts';
import { proposalKey } from '../../core/play-episodes.ts';
import { judgmentId, proposalId, rolloutId } from '../../core/sample-ids.ts';
import type { GroupAnswer, GroupContent } from '../../core/schema/answers.ts';
import { keys } from '../../core/schema/round.ts';
import { proposals, type Sample, type ScoredGroup, scoredGroup } from '../../core/schema/sample.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import type { Tokenizer } from '../../core/text/tokenizer-port.ts';
import type { Database } from '../../store/database.ts';
import { type GroupRow, groupsOf } from '../../store/groups.ts';
import { readJson } from '../../store/objects.ts';
import { getRound, listRounds, type RoundRow } from '../../store/rounds.ts';
import { loadVersion } from '../../store/versions.ts';

/** How many rounds a search without a hint looks through, newest first. */
const SEARCHED_ROUNDS = 5;
/** How many judgments of a sample, turns of an episode and batches of proposals a search derives ids for. */
const MOST_VOTES = 8;
const MOST_TURNS = 8;
const MOST_ATTEMPTS = 6;

/** Turns samples into what a reader sees: each is decoded by the tokenizer of the policy that wrote it. */
class Reader {
  readonly #bucket: R2Bucket;
  readonly #tokenizers = new Map<string, Promise<Tokenizer | null>>();

  constructor(bucket: R2Bucket) {
    this.#bucket = bucket;
  }

  /** `text` is null where the policy has no tokenizer. */
  async read(sample: Sample) {
    const tokenizer = await this.#tokenizerOf(sample.policy.name);
    const text = tokenizer && {
      prompt: tokenizer.decode(sample.prompt),
      completion: tokenizer.decode(sample.ids),
    };
    return { ...sample, text };
  }

  readAll(samples: readonly Sample[]) {
    return Promise.all(samples.map((sample) => this.read(sample)));
  }

  /** A policy keeps the tokenizer that it began with, and version 0 is there even where a later version was pruned. */
  #tokenizerOf(name: string): Promise<Tokenizer | null> {
    const opened = this.#tokenizers.get(name) ?? this.#open(name);
    this.#tokenizers.set(name, opened);
    return opened;
  }

  async #open(name: string): Promise<Tokenizer | null> {
    const files = await loadVersion(this.#bucket, { name, version: 0 }, ['tokenizer.json'], null);
    const bytes = files['tokenizer.json'];
    return bytes ? openTokenizer(JSON.parse(new TextDecoder().decode(bytes))) : null;
  }
}

/** Returns a scored group with its texts; its fields are null while it is not scored. */
export async function groupPage(
  bucket: R2Bucket,
  row: RoundRow,
  { id: group, proposal: proposed }: GroupRow,
): Promise<Omit<GroupContent, keyof GroupAnswer>> {
  const reader = new Reader(bucket);
  const proposal = await reader.readAll(proposed === null ? [] : await proposalOf(bucket, row, proposed));
  const scored = await readJson(bucket, keys.scored(row.id, group), scoredGroup);
  if (!scored) return { proposal, samples: null, judgments: null, answersExact: null, solutionsExact: null };
  return {
    proposal,
    samples: await reader.readAll(scored.samples),
    judgments: await reader.readAll(scored.judgments),
    answersExact: scored.answersExact,
    solutionsExact: scored.solutionsExact,
  };
}

/** Adds to a proposal's sample the reward that the round's report gives for it, if any. */
const withEarnings = (sample: Sample, { report }: RoundRow): Sample => {
  const reward = report?.earnings?.[proposalKey(sample)];
  return reward === undefined ? sample : { ...sample, rewards: { ...sample.rewards, reward } };
};

/** Reads the turns of a proposal. */
async function proposalOf(bucket: R2Bucket, row: RoundRow, proposed: string): Promise<Sample[]> {
  const written = await readJson(bucket, keys.proposals(row.id), proposals);
  const turns = written?.samples.filter((sample) => proposalKey(sample) === proposed) ?? [];
  return turns.map((sample) => withEarnings(sample, row));
}

export async function findSample(db: Database, bucket: R2Bucket, wanted: string, round: string | undefined) {
  const rows = round ? [await getRound(db, round)] : await listRounds(db, { limit: SEARCHED_ROUNDS });
  for (const row of rows) {
    const found = row && (await findInRound(db, bucket, wanted, row, round !== undefined));
    if (found) return found;
  }
  return null;
}

/** Is `wanted` the id of a rollout of this group by one of the roles, of one of its turns, or of another role's judgment of it? */
function isDerivedFrom(group: string, { spec }: RoundRow, wanted: string): boolean {
  const roles = Object.keys(spec.roles);
  for (const role of roles)
    for (let i = 0; i < spec.settings.groupSize; i++) {
      const rollout = rolloutId(group, role, i);
      if (rollout === wanted) return true;
      for (let turns = 0; turns < MOST_TURNS; turns++)
        if (turnId({ id: rollout, turns }) === wanted) return true;
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
) {
  const { id } = row;
  for (const { id: group, index, task } of await groupsOf(db, id)) {
    if (!everywhere && !isDerivedFrom(group, row, wanted)) continue;
    const scored = await readJson(bucket, keys.scored(id, group), scoredGroup);
    const sample = scored && inGroup(scored, wanted);
    if (sample) return { round: id, group, index, task, sample: await new Reader(bucket).read(sample) };
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

async function findProposal(bucket: R2Bucket, wanted: string, row: RoundRow, everywhere: boolean) {
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
    sample: await new Reader(bucket).read(withEarnings(sample, row)),
  };
}
