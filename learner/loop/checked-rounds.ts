/**
 * The records of rounds, fetched, checked and audited. While a version is published the records of the next round that is complete are checked: both
 * wait for the mesh, and neither needs the other. What was checked early counts only if the round is still the one that it was.
 */
import type { Recipe } from '../../core/recipe.ts';
import type { ScoredMessage } from '../../core/schema/round.ts';
import { wrongRound } from '../../recipes/run-order.ts';
import { type Audited, auditRecords, settleAudit } from './auditor.ts';
import { type Collector, wholeRound } from './collect.ts';
import { type Gathered, gatherRound } from './gather.ts';
import { versionsForTraining } from './load-version.ts';
import type { GroupStates, MeshGateway, RoundState } from './ports.ts';
import type { LearnerSettings } from './settings.ts';

/** The largest version beside whose publication records are checked, bytes: an audit opens the policy that sampled, which needs as much memory again. */
const MOST_BYTES = 64 << 20;

type Gateway = Pick<
  MeshGateway,
  'getRound' | 'getGroups' | 'getObject' | 'getVersion' | 'getRoundWork' | 'noteAudited' | 'shutOutNode'
>;

interface Known {
  readonly recipe: Recipe;
  readonly round: RoundState;
  readonly listed: GroupStates;
  readonly messages: readonly ScoredMessage[];
}

interface Prepared {
  readonly key: string;
  readonly audited: Audited;
}

interface Sources {
  /** Where the groups are read: from the gateway, or from what was fetched early. */
  readonly objects?: Pick<MeshGateway, 'getObject'>;
  /** The rounds of which messages have arrived; absent = no round is checked early. */
  readonly collector?: Pick<Collector, 'rounds' | 'messages'>;
}

/** All that an audit depends on, but the versions, whose manifests the round names. */
const keyOf = ({ round: { spec, proposalsSha256, manifests }, listed, messages }: Known): string =>
  JSON.stringify([spec.id, proposalsSha256, manifests, listed, messages]);

export class CheckedRounds {
  readonly #gateway: Gateway;
  readonly #settings: Pick<LearnerSettings, 'recipes' | 'meshKey' | 'audit'>;
  readonly #objects: Pick<MeshGateway, 'getObject'>;
  readonly #collector: Sources['collector'];
  /** The round whose version is being published. */
  #publishing: string | undefined;
  /** Of one round at a time; it comes to undefined if the round was not complete, could not be checked, or is not to be trained whole. */
  #preparing: Promise<Prepared | undefined> | undefined;

  constructor(
    gateway: Gateway,
    settings: Pick<LearnerSettings, 'recipes' | 'meshKey' | 'audit'>,
    { objects = gateway, collector }: Sources = {},
  ) {
    this.#gateway = gateway;
    this.#settings = settings;
    this.#objects = objects;
    this.#collector = collector;
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
    const audited = prepared?.key === keyOf(known) ? prepared.audited : await this.#audit(known);
    return settleAudit(this.#gateway, round.spec.id, audited);
  }

  /** Has a round's version of so many bytes published; meanwhile the next round that is complete is checked. */
  async publishing<T>(round: string, bytes: number, publish: () => Promise<T>): Promise<T> {
    if (bytes <= MOST_BYTES) this.#publishing = round;
    this.arrived();
    try {
      return await publish();
    } finally {
      this.#publishing = undefined;
    }
  }

  /** Says that messages have arrived. */
  arrived(): void {
    const { rounds = [] } = this.#collector ?? {};
    const next = rounds.find((id) => id !== this.#publishing);
    if (this.#publishing === undefined || this.#preparing || next === undefined) return;
    // Whatever fails now fails again when the round is to be trained, and is reported then.
    const preparing = this.#prepare(next).catch(() => undefined);
    this.#preparing = preparing;
    void preparing.then((prepared) => {
      if (!prepared && this.#preparing === preparing) this.#preparing = undefined;
    });
  }

  /** Waits until nothing is being checked. */
  async idle(): Promise<void> {
    await this.#preparing;
  }

  async #prepare(id: string): Promise<Prepared | undefined> {
    const round = await this.#gateway.getRound(id);
    if (round.state !== 'training' || wrongRound(this.#settings.recipes, round.spec) !== null)
      return undefined;
    const listed = await this.#gateway.getGroups(id);
    const messages = wholeRound(listed, this.#collector!.messages(id));
    if (!messages) return undefined;
    const recipe = this.#settings.recipes.find(round.spec.settings.recipe);
    const known = { recipe, round, listed, messages };
    const audited = await this.#audit(known);
    // A refusal is final, so it is made by what is stored when the round is to be trained.
    return audited.gathered.refused.length ? undefined : { key: keyOf(known), audited };
  }

  async #audit({ recipe, round, listed, messages }: Known): Promise<Audited> {
    const { audit, meshKey } = this.#settings;
    const gathered = await gatherRound(this.#gateway, round, listed, messages, meshKey, this.#objects);
    return audit
      ? auditRecords(versionsForTraining(this.#gateway), this.#gateway, recipe, round, gathered, audit)
      : { gathered, nodes: null };
  }
}
