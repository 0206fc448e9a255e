/** The task of a prompt for a question, with any reference: the prompt does not tell its own. */
export function promptedTask(prompt: string): string {
  const [, before, answer, after] = /^<propose>(.*)<answer>([a-z]{2})(.+)<sep>$/.exec(prompt)!;
  return `${before}${answer}${after}:${answer}?has 1`;
}
