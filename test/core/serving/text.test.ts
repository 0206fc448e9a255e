import { describe, expect, test } from 'vitest';
import type { Message } from '../../../core/renderer/message.ts';
import { rendererOf } from '../../../core/renderer/open.ts';
import { textOf } from '../../../core/renderer/policy-text.ts';
import { growingText } from '../../../core/serving/growing-text.ts';
import { callMarks, callStyle, parseCalls, writtenCalls } from '../../../core/serving/tool-calls.ts';
import { automatonOf } from '../../../core/text/byte-automaton.ts';
import { jsonOrCalls } from '../../../core/text/json-form.ts';
import { readStart } from '../../../local/find-start.ts';
import { QWEN_TEMPLATE, versionFiles } from '../renderer/checkpoints.ts';

const startFiles = await readStart('search-two-hop');

describe('the text of a stream', () => {
  /** What is told after each state of the text, and at the end. */
  const told = (marks: readonly string[], states: readonly string[], whole: string) => {
    const text = growingText(marks);
    return [...states.map((state) => text.add(state)), text.end(whole)];
  };

  test('is told as it grows', () => {
    expect(told([], ['a', 'ab', 'ab', 'abc'], 'abc')).toEqual(['a', 'b', '', 'c', '']);
  });

  test('a character of several tokens is told when it is whole', () => {
    expect(told([], ['x', 'x\uFFFD', 'x\uFFFD\uFFFD', 'xä'], 'xä')).toEqual(['x', '', '', 'ä', '']);
  });

  test('an end that may become a stop string is held back, and told if it does not', () => {
    expect(told(['END'], ['aE', 'aEN', 'aENx'], 'aENx')).toEqual(['a', '', 'ENx', '']);
    expect(told(['END'], ['aE', 'aEN', 'aEND', 'aENDmore'], 'a')).toEqual(['a', '', '', '', '']);
  });

  test('what stays a part of a character is told at the end', () => {
    expect(told([], ['x\uFFFD'], 'x\uFFFD')).toEqual(['x', '\uFFFD']);
  });
});

describe('calls of tools', () => {
  test('between tags, with text beside them', () => {
    const text = 'Let me see.\n<tool_call>\n{"name": "add", "arguments": {"a": 1, "b": 2}}\n</tool_call>';
    expect(parseCalls(text, 'tags', true)).toEqual({
      text: 'Let me see.',
      calls: [{ name: 'add', arguments: '{"a":1,"b":2}' }],
    });
  });

  test('two of them, the last one cut off before its closing tag', () => {
    const text = '<tool_call>{"name":"f","arguments":{}}</tool_call><tool_call>{"name":"g","arguments":"{}"}';
    expect(parseCalls(text, 'tags', true).calls).toEqual([
      { name: 'f', arguments: '{}' },
      { name: 'g', arguments: '{}' },
    ]);
  });

  test('an answer that is one object', () => {
    expect(parseCalls(' {"name": "f", "parameters": {"x": 1}} ', 'json', true)).toEqual({
      text: '',
      calls: [{ name: 'f', arguments: '{"x":1}' }],
    });
  });

  test('what cannot be read stays text, whole', () => {
    for (const text of ['<tool_call>{"name": 5}</tool_call>', '<tool_call>{oops', 'no call'])
      expect(parseCalls(text, 'tags', true)).toEqual({ text, calls: [] });
    expect(parseCalls('{"answer": 5}', 'json', true)).toEqual({ text: '{"answer": 5}', calls: [] });
  });

  const asked: Message[] = [{ role: 'user', content: 'Where is it?' }];
  const toolOf = (name: string, ...names: string[]) => ({
    type: 'function',
    function: {
      name,
      parameters: {
        type: 'object',
        properties: Object.fromEntries(names.map((one) => [one, { type: 'string' }])),
      },
    },
  });

  test('a prompt that names the tags teaches them, and one that describes tools otherwise teaches JSON', () => {
    const opened = (template: string) => rendererOf(versionFiles({ chat_template: template }), 'p');
    expect(callStyle(opened(QWEN_TEMPLATE), asked, [toolOf('f', 'x')])).toBe('tags');
    const json = `{{- tools | tojson }}{%- for message in messages %}{{- message.content + '<|im_end|>' }}{%- endfor %}`;
    expect(callStyle(opened(json), asked, [toolOf('f', 'x')])).toBe('json');
  });

  describe('beside a form of JSON', () => {
    const renderer = rendererOf(versionFiles({ chat_template: QWEN_TEMPLATE }), 'p');
    const bounded = { type: 'object', properties: { a: { type: 'string', maxLength: 2 } }, required: ['a'] };
    const tools = [
      { type: 'function', function: { name: 'add', parameters: bounded } },
      // A pattern is not heeded in a form: such a tool is given any object.
      { type: 'function', function: { name: 'f"', parameters: { type: 'object', pattern: 'x' } } },
      { type: 'function', function: { name: 'now' } },
    ];
    const schema = {
      type: 'object',
      properties: { name: { enum: ['<tool_call>', 'add'] } },
      required: ['name'],
    };
    const FORMS = ['{"name": "<tool_call>"}', '{"name":"add"}'];

    test.each(['tags', 'json'] as const)(
      'by %s an answer is the form or one call, and is read as what it is',
      (style) => {
        const written = writtenCalls(style, tools);
        const automaton = automatonOf(jsonOrCalls({ schema }, written));
        const follow = (text: string) => {
          let state = 0;
          for (const byte of new TextEncoder().encode(text)) {
            state = automaton.step(state, byte);
            if (state < 0) return false;
          }
          return automaton.ends(state);
        };
        const call = (name: string, given: string) =>
          style === 'tags'
            ? `<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": ${given}}\n</tool_call>`
            : `{"name": ${JSON.stringify(name)}, "parameters": ${given}}`;
        const CALLS = [
          [call('add', '{"a": "xy"}'), 'add', '{"a":"xy"}'],
          [call('f"', '{"b":[1]}'), 'f"', '{"b":[1]}'],
          [call('now', '{}'), 'now', '{}'],
        ] as const;
        for (const text of FORMS) {
          expect([text, follow(text)]).toEqual([text, true]);
          expect(parseCalls(text, style, true, written)).toEqual({ text, calls: [] });
        }
        for (const [text, name, given] of CALLS) {
          expect([text, follow(text)]).toEqual([text, true]);
          expect(parseCalls(text, style, true, written)).toEqual({
            text: '',
            calls: [{ name, arguments: given }],
          });
        }
        for (const text of [
          call('add', '{"a": "xyz"}'),
          call('add', '{}'),
          call('other', '{}'),
          `x${CALLS[0][0]}`,
          '{"b": 1}',
        ])
          expect([text, follow(text)]).toEqual([text, false]);
      },
    );

    test('the policy’s tokens write both, and its own marks alone would not', () => {
      const style = callStyle(renderer, asked, tools);
      const { ends, next } = renderer.jsonGrammar({ schema }, writtenCalls(style, tools));
      expect([style, ends.some((end) => end)]).toEqual(['tags', true]);
      expect(next.length).toBeGreaterThan(renderer.jsonGrammar({ schema }).next.length);
    });

    test('a call that only the end of an answer ends is refused by name', () => {
      const own = [{ name: 'look', argument: 'query', before: '<step>?', after: '' }];
      expect(() => writtenCalls(own, [])).toThrow(expect.objectContaining({ code: 'serving.tools' }));
      const ended = [{ name: 'look', argument: 'query', before: '<look>', after: '</look>' }];
      const automaton = automatonOf(jsonOrCalls('object', writtenCalls(ended, [])));
      const ends = (text: string) =>
        automaton.ends(
          [...new TextEncoder().encode(text)].reduce((state, byte) => automaton.step(state, byte), 0),
        );
      expect(['<look>wo ist é?</look>', '<look>x', '{"a": 1}'].map(ends)).toEqual([true, false, true]);
    });
  });

  describe('in a notation of the policy’s own', () => {
    const search = rendererOf(startFiles, 'search-two-hop');
    const own = callStyle(search, asked, [toolOf('look', 'query')]);

    test('the template says how they are written', () => {
      expect(own).toEqual([{ name: 'look', argument: 'query', before: '<step>?', after: '' }]);
      expect(callMarks(own)).toEqual(['<step>?']);
      // However the conversation went on.
      const more: Message[] = [
        ...asked,
        { role: 'assistant', content: '<step>?home situ' },
        { role: 'tool', content: 'the home of situ is rola.' },
      ];
      expect(callStyle(search, more, [toolOf('look', 'query')])).toEqual(own);
    });

    test('a call is what follows, if it ended; text before it stays text', () => {
      const call = { name: 'look', arguments: '{"query":"home situ"}' };
      expect(parseCalls('<step>?home situ', own, true)).toEqual({ text: '', calls: [call] });
      expect(parseCalls('<step>two hops<step>?home situ', own, true)).toEqual({
        text: '<step>two hops',
        calls: [call],
      });
      for (const text of ['<answer>rola', '<step>?', '<step>home'])
        expect(parseCalls(text, own, true)).toEqual({ text, calls: [] });
      expect(parseCalls('<step>?home sit', own, false)).toEqual({ text: '<step>?home sit', calls: [] });
      const closed = [{ name: 'look', argument: 'query', before: '[', after: ']' }];
      expect(parseCalls('so [a b] then', closed, false).calls).toEqual([
        { name: 'look', arguments: '{"query":"a b"}' },
      ]);
      expect(parseCalls('so [a b', closed, true).calls).toEqual([]);
      // Of several the first in the answer, whichever tool was named first.
      const two = [...closed, { name: 'add', argument: 'sum', before: '{', after: '}' }];
      expect(parseCalls('so {1+1} and [a b]', two, true)).toEqual({
        text: 'so',
        calls: [{ name: 'add', arguments: '{"sum":"1+1"}' }],
      });
    });

    test('an answer may be a call, too; of a question with rules before it the question alone is read', () => {
      const tools = [toolOf('look', 'query'), toolOf('say', 'name')];
      const style = callStyle(search, asked, tools);
      expect(parseCalls('<answer>rola', style, true)).toEqual({
        text: '',
        calls: [{ name: 'say', arguments: '{"name":"rola"}' }],
      });
      expect(parseCalls('<step>?home situ', style, true).calls).toEqual([
        { name: 'look', arguments: '{"query":"home situ"}' },
      ]);
      const ruled: Message[] = [{ role: 'user', content: 'Search, then answer.\nWhere is it?' }];
      expect(search.begin(ruled, tools).text).toBe('<solve>Where is it?<sep>');
      const said = {
        role: 'assistant' as const,
        content: '',
        tool_calls: [{ type: 'function' as const, function: { name: 'say', arguments: { name: 'rola' } } }],
      };
      expect(search.demonstrate([...asked, said], tools)[0]?.text).toBe(
        '<solve>Where is it?<sep><answer>rola<eos>',
      );
    });

    test('a conversation is written as the policy was taught it', () => {
      const tools = [toolOf('look', 'query')];
      const called = {
        role: 'assistant' as const,
        content: '',
        tool_calls: [
          { type: 'function' as const, function: { name: 'look', arguments: { query: 'home situ' } } },
        ],
      };
      const found = { role: 'tool' as const, content: 'the home of situ is rola.' };
      const episode = '<solve>Where is it?<sep><step>?home situ<eos>the home of situ is rola.<sep>';
      expect(search.begin([...asked, called, found], tools).text).toBe(episode);
      // What the policy wrote is the same text, and its ids are kept.
      const { tokenizer } = textOf(startFiles, 'search-two-hop');
      const drawn = search.answer(search.begin(asked, tools), tokenizer.encode('<step>?home situ<eos>'));
      expect(search.ask(drawn, [found]).text).toBe(episode);
    });

    test('other tools are refused, and so are those of a template that writes no calls', () => {
      expect(() => callStyle(search, asked, [toolOf('f', 'x')])).toThrow(
        /knows two tools, with the arguments query and name/,
      );
      expect(() => callStyle(search, asked, [toolOf('f', 'query'), toolOf('g', 'query')])).toThrow(
        /does not know these tools/,
      );
      expect(() => callStyle(search, asked, [toolOf('f', 'query', 'more')])).toThrow(
        /does not know these tools/,
      );
      const deaf = `{%- for message in messages %}{{- message.content + '<|im_end|>' }}{%- endfor %}`;
      const renderer = rendererOf(versionFiles({ chat_template: deaf }), 'p');
      expect(() => callStyle(renderer, asked, [toolOf('f', 'x')])).toThrow(/does not know these tools/);
      // Two tools that would be written alike could not be told apart.
      const alike = `{%- for message in messages %}{{- message.content }}{%- for call in message.tool_calls or [] %}{{- '!' + call.function.arguments.x }}{%- endfor %}{{- '<|im_end|>' }}{%- endfor %}`;
      const writes = rendererOf(versionFiles({ chat_template: alike }), 'p');
      expect(callStyle(writes, asked, [toolOf('f', 'x')])).toEqual([
        { name: 'f', argument: 'x', before: '!', after: '' },
      ]);
      expect(() => callStyle(writes, asked, [toolOf('f', 'x'), toolOf('g', 'x')])).toThrow(/does not know/);
    });
  });
});
