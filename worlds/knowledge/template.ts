/** The chat template of the policies that search: a conversation in the notation of a search episode. */
import { characterTokenizer } from '../../core/text/characters.ts';

/**
 * They know two tools, whatever their names are: one with one argument `query`, and one with one argument `name`, which is the answer. A policy that
 * was taught them needs not be told of them in the prompt. Without the second an answer is content as it stands, tag included. Of the first message
 * the last line is read, which is the question: rules in English, which stand before it, are not in this notation.
 *
 *     <solve>question<sep>   <step>?query<eos>   result<sep>   <answer>name<eos>
 */
const SEARCH_TEMPLATE = `
{%- for tool in tools or [] %}
    {%- if 'query' not in tool.function.parameters.properties and 'name' not in tool.function.parameters.properties %}
        {{- raise_exception('this policy knows two tools, with the arguments query and name') }}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.role == 'user' and loop.first %}
        {{- '<solve>' + message.content.split('\\n')[-1] + '<sep>' }}
    {%- elif message.role == 'assistant' %}
        {{- message.content }}
        {%- if message.tool_calls %}
            {%- set given = message.tool_calls[0].function.arguments %}
            {{- '<step>?' + given.query if 'query' in given else '<answer>' + given.name }}
        {%- endif %}
        {{- '<eos>' }}
    {%- elif message.role == 'tool' %}
        {{- message.content + '<sep>' }}
    {%- else %}
        {{- raise_exception('this policy reads one question, then its own answers and what its searches found') }}
    {%- endif %}
{%- endfor %}`;

export const searchTokenizer = () => ({
  ...characterTokenizer(),
  config: {
    tokenizer_class: 'PreTrainedTokenizerFast',
    chat_template: SEARCH_TEMPLATE,
    eos_token: '<eos>',
    pad_token: '<pad>',
    clean_up_tokenization_spaces: false,
  },
});
