/** What is no objective: a function that returns something else than a loss. */
export default () => ({ loss: 0, clippedTokens: 0 });
