/**
 * The records of rounds, fetched, checked and audited. While a version is published the records of the next round that is complete are checked: both
 * wait for the mesh, and neither needs the other. What was checked early counts only if the round is, to the last byte, the one that it was.
 */

import type { Apart } from '../../core/audit/suspects.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { otherRefs, type ScoredMessage } from '../../core/schema/round.ts';
import { canonicalJson } from '../../core/text/canonical-json.ts';
import { wrongRound } from '../../recipes/run-order.ts';
import { type Audited, auditRecords, auditSuspects, settleAudit } from './auditor.ts';
import { type Collector, wholeRound } from './collect.ts';
import { type Gathered, gatherRound } from './gather.ts';
import { versionsForTraining } from './load-version.ts';
import type { GroupStates, MeshGateway, RoundState } from './ports.ts';
import type { LearnerSettings } from './settings.ts';

/** The largest version beside whose publication records are checked, bytes: an audit opens policies of the same run, which need as much memory again. */
const MOST_BYTES = 64 << 20;
/** The largest share of records to sample again beside a publication, whose requests wait while an audit samples. */
const MOST_SAMPLED = 0.1;

type Gateway = Pick<
  MeshGateway,
  | 'getRound'
  | 'getGroups'
  | 'getObject'
  | 'getVersion'
  | 'getTasks'
  | 'getRoundWork'
  | 'noteAudited'
  | 'shutOutNode'
>;

interface Known {
  readonly recipe: Recipe;
  readonly round: RoundState;
  readonly listed: GroupStates;
  readonly messages: readonly ScoredMessage[];
}

interface Prepared {
  readonly round: string;
  readonly key: string;
  readonly audited: Audited;
}

interface Sources {
  /** Where the groups are read: from the gateway, or from what was fetched early. */
  readonly objects?: Pick<MeshGateway, 'getObject'>;
  /** The rounds of which messages have arrived; absent = no round is checked early. */
  readonly collector?: Pick<Collector, 'rounds' | 'messages'>;
  readonly log?: (event: string, fields: Readonly<Record<string, unknown>>) => void;
}

/**
 * All that the checks and the audit depend on, but the files of versions, whose manifests are in it. Roles and versions are in the spec and in no
 * group's hash. A round that is begun again, since a node was shut out, gets another time of training.
 */
const keyOf = ({ round: { spec, proposalsSha256, manifests, trainingAt }, listed, messages }: Known) =>
  canonicalJson({ spec, proposalsSha256, manifests, trainingAt, listed, messages });

/** A refusal of the audit is kept: whoever sees that the records are read again could know that the draw has found something. */
const isKept = ({ gathered: { refused } }: Audited): boolean =>
  refused.every(({ failure }) => failure.code.startsWith('audit.'));

const refusalsOf = ({ gathered: { refused } }: Audited): string =>
  refused.map(({ group, failure }) => `${group}: ${failure.message}`).join('; ');

export class CheckedRounds {
  readonly #gateway: Gateway;
  readonly #settings: Pick<LearnerSettings, 'recipes' | 'meshKey' | 'audit'>;
  readonly #sources: Sources;
  /** The round whose version is being published. */
  #publishing: string | undefined;
  /** With how many messages each round was tried since then. */
  readonly #tried = new Map<string, number>();
  /** Of one round at a time; it comes to undefined if the round was not complete, or could not be checked. */
  #preparing: Promise<Prepared | undefined> | undefined;

  constructor(
    gateway: Gateway,
    settings: Pick<LearnerSettings, 'recipes' | 'meshKey' | 'audit'>,
    sources: Sources = {},
  ) {
    this.#gateway = gateway;
    this.#settings = settings;
    this.#sources = sources;
  }

  /** What of a round may be trained on, and what is refused. Throws what the audit throws of nodes (`settleAudit`). */
  async take(
    recipe: Recipe,
    round: RoundState,
    listed: GroupStates,
    messages: readonly ScoredMessage[],
  ): Promise<Gathered> {
    const known = { recipe, round, listed, messages };
    const prepared = await this.#preparing;
    this.#preparing = undefined;
    const isSame = prepared?.key === keyOf(known);
    if (prepared?.round === round.spec.id && !isSame)
      this.#sources.log?.('round.changed', { round: round.spec.id, refused: refusalsOf(prepared.audited) });
    return settleAudit(this.#gateway, round.spec.id, isSame ? prepared.audited : await this.#audit(known));
  }

  /** What of a round may be trained on, after what differs most from the learner's own log-probabilities was sampled again. */
  async examine(
    recipe: Recipe,
    round: RoundState,
    gathered: Gathered,
    samples: readonly Apart[],
  ): Promise<Gathered> {
    const { audit } = this.#settings;
    // An audit of the next round samples with the same engines.
    await this.#preparing;
    return audit
      ? auditSuspects(
          versionsForTraining(this.#gateway),
          this.#gateway,
          recipe,
          round,
          gathered,
          samples,
          audit,
        )
      : gathered;
  }

  /** Has a round's version of so many bytes published; meanwhile the next round that is complete is checked. */
  async publishing<T>(round: string, bytes: number, publish: () => Promise<T>): Promise<T> {
    const { audit } = this.#settings;
    this.#tried.clear();
    if (bytes <= MOST_BYTES && (audit?.fraction ?? 0) <= MOST_SAMPLED) this.#publishing = round;
    this.arrived();
    try {
      return await publish();
    } finally {
      this.#publishing = undefined;
    }
  }

  /** Says that messages have arrived. */
  arrived(): void {
    const { collector } = this.#sources;
    if (this.#publishing === undefined || this.#preparing || !collector) return;
    const next = collector.rounds.find(
      (id) => id !== this.#publishing && this.#tried.get(id) !== collector.messages(id).length,
    );
    if (next === undefined) return;
    const messages = collector.messages(next);
    this.#tried.set(next, messages.length);
    // Whatever fails now fails again when the round is to be trained, and is reported then.
    const preparing = this.#prepare(next, messages).catch(() => undefined);
    this.#preparing = preparing;
    void preparing.then((prepared) => {
      if (prepared || this.#preparing !== preparing) return;
      this.#preparing = undefined;
      this.arrived();
    });
  }

  /** Waits until nothing is being checked. */
  async idle(): Promise<void> {
    let preparing: unknown;
    while (preparing !== this.#preparing) {
      preparing = this.#preparing;
      await preparing;
    }
  }

  async #prepare(id: string, arrived: readonly ScoredMessage[]): Promise<Prepared | undefined> {
    const { recipes } = this.#settings;
    const round = await this.#gateway.getRound(id);
    const { spec } = round;
    // The policies of other runs may be of any size.
    if (round.state !== 'training' || wrongRound(recipes, spec) !== null || otherRefs(spec).length) return;
    const listed = await this.#gateway.getGroups(id);
    const messages = wholeRound(listed, arrived);
    if (!messages) return;
    const known = { recipe: recipes.find(spec.settings.recipe), round, listed, messages };
    const audited = await this.#audit(known);
    return isKept(audited) ? { round: id, key: keyOf(known), audited } : undefined;
  }

  async #audit({ recipe, round, listed, messages }: Known): Promise<Audited> {
    const { audit, meshKey } = this.#settings;
    const { objects = this.#gateway } = this.#sources;
    const gathered = await gatherRound(this.#gateway, round, listed, messages, meshKey, objects);
    return audit
      ? auditRecords(versionsForTraining(this.#gateway), this.#gateway, recipe, round, gathered, audit)
      : { gathered, nodes: null };
  }
}
