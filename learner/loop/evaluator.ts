/**
 * Held-out evaluation beside the training: version 0 once, then every n-th round's version and the last one's, through the
 * same generation runtime that the Workers use.
 */
import type { Policy } from '../../core/policy.ts';
import { evaluate, type JudgeItem, naturalSolutions } from '../../core/roles/evaluate.ts';
import type { EvaluationReport, RoundReport } from '../../core/schema/report.ts';
import { tokenizerOf } from '../../core/text/policy-text.ts';
import type { Tokenizer } from '../../core/text/tokenizer-port.ts';
import { openVersion } from '../../infer/open-version.ts';
import { loadOrt } from '../../infer/ort.ts';
import { findRecipe } from '../../recipes/index.ts';
import type { GatewayClient } from '../transport/gateway-client.ts';
import type { RoundState } from './ports.ts';

/** The judge's yardstick: what version 0 writes. */
interface Yardstick {
  readonly policy: string;
  readonly natural: readonly JudgeItem[];
}

export class Evaluator {
  readonly #gateway: Pick<GatewayClient, 'getVersion' | 'getRun'>;
  readonly #every: number;
  #yardstick: Yardstick | undefined;

  constructor(gateway: Pick<GatewayClient, 'getVersion' | 'getRun'>, every: number) {
    this.#gateway = gateway;
    this.#every = every;
  }

  /** What is due after this round; null where nothing is. */
  async after({ spec }: RoundState, version: number): Promise<RoundReport | null> {
    const { target } = await this.#gateway.getRun(spec.run);
    const due = spec.index % this.#every === 0 || spec.index === target;
    const start =
      spec.index === 1 ? { start: await this.#evaluate(spec.settings.recipe, spec.settings.policy, 0) } : {};
    if (!due) return spec.index === 1 ? start : null;
    return {
      ...start,
      evaluation: await this.#evaluate(spec.settings.recipe, spec.settings.policy, version),
    };
  }

  async #evaluate(recipe: string, policy: string, version: number): Promise<EvaluationReport> {
    const natural = await this.#naturalOf(recipe, policy);
    return this.#with(policy, version, async (live, tokenizer) => ({
      version,
      ...(await evaluate(findRecipe(recipe), live, tokenizer, natural)),
    }));
  }

  async #naturalOf(recipe: string, policy: string): Promise<readonly JudgeItem[]> {
    if (this.#yardstick?.policy !== policy) {
      const natural = await this.#with(policy, 0, (live, tokenizer) =>
        naturalSolutions(findRecipe(recipe), live, tokenizer),
      );
      this.#yardstick = { policy, natural };
    }
    return this.#yardstick.natural;
  }

  async #with<T>(
    name: string,
    version: number,
    use: (live: Policy, tokenizer: Tokenizer) => Promise<T>,
  ): Promise<T> {
    const ref = { name, version };
    const files = await this.#gateway.getVersion(ref, ['config.json', 'tokenizer.json', 'model.safetensors']);
    const live = await openVersion(await loadOrt(), ref, files);
    try {
      return await use(live, tokenizerOf(files, name));
    } finally {
      await live.dispose();
    }
  }
}
