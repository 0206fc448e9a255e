/**
 * A search tool over one-line documents: the k documents that share the most words with the query. Deliberately plain, with no
 * model and no learned ranking; the order is total, so the same query always finds the same documents.
 */

const WORD = /[\p{L}\p{N}]+/gu;
/** Words that nearly every document has. */
const STOP_WORDS = new Set(['the', 'of', 'is', 'one', 'with', 'and']);

const wordsOf = (text: string): string[] => [
  ...new Set((text.toLowerCase().match(WORD) ?? []).filter((word) => !STOP_WORDS.has(word))),
];

/** Longest query that is read, in characters. */
export const MAX_QUERY = 200;

export class SearchIndex {
  readonly #documents: readonly string[];
  /** Word -> the documents that have it, and where among their words. */
  readonly #byWord = new Map<string, { document: number; at: number }[]>();

  constructor(documents: readonly string[]) {
    this.#documents = documents;
    for (const [i, document] of documents.entries())
      for (const [at, word] of wordsOf(document).entries()) {
        const list = this.#byWord.get(word);
        if (list) list.push({ document: i, at });
        else this.#byWord.set(word, [{ document: i, at }]);
      }
  }

  /** Up to k documents with at least one word of the query: most shared words first, then rarer words, then those that come earlier in the document (its subject before its object), then document order. */
  search(query: string, k = 3): string[] {
    const scores = new Map<number, { shared: number; rarity: number; late: number }>();
    for (const word of wordsOf(query.slice(0, MAX_QUERY))) {
      const found = this.#byWord.get(word) ?? [];
      for (const { document, at } of found) {
        const score = scores.get(document) ?? { shared: 0, rarity: 0, late: 0 };
        score.shared += 1;
        score.rarity += 1 / found.length;
        score.late += at;
        scores.set(document, score);
      }
    }
    return [...scores]
      .sort(([i, a], [j, b]) => b.shared - a.shared || b.rarity - a.rarity || a.late - b.late || i - j)
      .slice(0, Math.max(0, k))
      .map(([i]) => this.#documents[i]!);
  }
}
