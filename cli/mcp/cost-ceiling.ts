/**
 * Bounds what orders may cost, at the platform's prices. What a sample of a recipe costs is known from the newest rounds of it that are done; a
 * recipe that has none gets one round first.
 */

import { wrongInput } from '../../core/errors.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';

type Rounds = Pick<GatewayClient, 'listRuns' | 'roundsUnderWay'>;

/** How large an order is. */
export interface OrderSize {
  readonly recipe: string;
  readonly rounds: number;
  /** Tasks a round, and rollouts a task. */
  readonly tasks: number;
  readonly groupSize: number;
}

/** The runs of a recipe that are looked at. */
const RUNS = 200;

const samplesOf = ({ tasks, groupSize }: Pick<OrderSize, 'tasks' | 'groupSize'>) => tasks * groupSize;

/** Dollars for a sample, by the dearest of the newest rounds that are done; undefined where no round of the recipe has a bill. */
async function pricePerSample(gateway: Rounds, recipe: string): Promise<number | undefined> {
  const runs = (await gateway.listRuns(RUNS)).filter(({ settings }) => settings.recipe === recipe);
  for (const { id, settings } of runs) {
    const prices = (await gateway.roundsUnderWay(id)).flatMap(({ state, usage }) =>
      state === 'done' && usage ? [usage.cost.total / samplesOf(settings)] : [],
    );
    if (prices.length) return Math.max(...prices);
  }
  return undefined;
}

export class CostCeiling {
  readonly #dollars: number;
  #spent = 0;
  /** Recipes whose first round was ordered before any price was known. */
  readonly #first = new Set<string>();

  constructor(dollars: number) {
    this.#dollars = dollars;
  }

  /**
   * Counts an order, and says what it is expected to cost in dollars; null where that cannot be known yet.
   *
   * @throws RollmeshError `mcp.ceiling` where all orders together would cost more than the ceiling, `mcp.first-round` where several rounds are
   * asked of a recipe without a price, or another one before the first has ended
   */
  async admit(gateway: Rounds, order: OrderSize): Promise<number | null> {
    const price = await pricePerSample(gateway, order.recipe);
    if (price === undefined) {
      if (order.rounds > 1 || this.#first.has(order.recipe))
        throw wrongInput(
          'mcp.first-round',
          `What a round of ${order.recipe} costs here is not known: none of it has ended yet.`,
          {
            expected: 'one round first',
            next: this.#first.has(order.recipe)
              ? 'One is ordered: wait until it is done.'
              : 'Order one round, wait until it is done, then order the others.',
          },
        );
      this.#first.add(order.recipe);
      return null;
    }
    const cost = price * samplesOf(order) * order.rounds;
    if (this.#spent + cost > this.#dollars)
      throw wrongInput(
        'mcp.ceiling',
        `This order would cost about ${dollars(cost)}, and ${dollars(this.#spent)} are ordered already.`,
        {
          expected: `at most ${dollars(this.#dollars)} in all`,
          next: 'Order fewer rounds, or have whoever started this server raise --ceiling.',
        },
      );
    this.#spent += cost;
    return cost;
  }

  /** Takes an order off the count that the mesh then did not take; `cost` is what `admit` said of it. */
  withdraw({ recipe }: OrderSize, cost: number | null): void {
    if (cost === null) this.#first.delete(recipe);
    else this.#spent -= cost;
  }
}

/** `$0.0312`: two digits that count, cents at least. */
const dollars = (amount: number) =>
  `$${amount >= 0.1 || amount === 0 ? amount.toFixed(2) : Number(amount.toPrecision(2))}`;
