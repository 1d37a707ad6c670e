import { eventsPath, uniqueType, type EventPage, type EventRecord } from './api.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

function nested(levels: number): string {
  return '{"a":'.repeat(levels - 1) + '{}' + '}'.repeat(levels - 1);
}

const payloads: [what: string, data: string][] = [
  ['nothing', '{}'],
  ['the order of keys, including numeric keys', '{"b":1,"a":2,"2":3,"1":4}'],
  ['a repeated key', '{"a":1,"a":2}'],
  ['big integers', '{"id":12345678901234567890123,"max":9007199254740993}'],
  ['decimals as they were written', '{"a":1.10,"b":-0,"c":1E+2,"d":0.1000000000000000055511151231257827}'],
  ['numbers that no double can hold', '{"a":1e400,"b":-1e-400}'],
  ['escapes', String.raw`{"s":"\u00e9\/\"\\\b\f\n\r\t\u001f\ud83d\ude00é😀"}`],
  ['NUL as an escape', String.raw`{"s":"a\u0000b","\u0000":1}`],
  ['lone surrogates as escapes', String.raw`{"s":"\ud800","t":"\udc00\ud800"}`],
  ['names of prototype members', '{"__proto__":{"admin":true},"constructor":{"prototype":1},"toString":"x"}'],
  ['white space', '{ "a" :\t1 ,\r\n\n "b" : [ ] , "c":{ } }'],
  ['text that looks like the end of a record', '{"s":"},\\"created\\":\\"x\\""}'],
  ['line separators', '{"s":"\u2028\u2029\u007f\ufeff"}'],
  [
    'values that filters cannot hold',
    String.raw`{"user_id":"a\u0000b","user_name":"\ud800","reward":{"id":"${'x'.repeat(300)}"}}`,
  ],
  ['filter keys of other types', '{"user_id":5,"user_name":{},"reward":[],"data":"x","message":null}'],
];

describe('event_data', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await startStack();
  }, startLimitMs);

  afterAll(() => stack.stop());

  const post = (data: string, type = uniqueType()) =>
    stack.request<EventRecord>('POST', eventsPath, {
      body: `{ "event_type":"${type}", "event_data": ${data} ,"event_source":"Mine" }`,
    });

  it.each(payloads)('is returned exactly as it was sent: %s', async (_, data) => {
    const created = await post(data);
    expect(created.status).toBe(201);
    expect(created.text).toContain(`"event_data":${data},"created":`);
    expect((await stack.request('GET', `${eventsPath}/${created.json.id}`)).text).toBe(created.text);
    const list = await stack.request('GET', `${eventsPath}?event_type=${created.json.event_type}`);
    expect(list.text).toContain(`"results":[${created.text}]`);
  });

  it('reaches the EVENTS stream as it was sent', async () => {
    const type = uniqueType('stream');
    const created = await Promise.all(payloads.map(([, data]) => post(data, type)));
    await stack.waitUntilPublished();
    const messages = (await stack.readStream()).filter(({ record }) => record.event_type === type);
    expect(messages.map(({ text }) => text).sort()).toEqual(created.map(({ text }) => text).sort());
  });

  it('is the last one when the body repeats event_data, as in any JSON parser', async () => {
    const body = '{"event_type":"a","event_source":"b","event_data":{"n":1},"event_data":{"n":2}}';
    const { text } = await stack.request('POST', eventsPath, { body });
    expect(text).toContain('"event_data":{"n":2}');
  });

  it('cannot change fields of the record with __proto__', async () => {
    const body = '{"__proto__":{"event_type":"a","event_source":"b"},"event_data":{}}';
    const answer = await stack.request('POST', eventsPath, { body });
    expect(answer).toMatchObject({ status: 400, json: { errors: { event_type: {}, event_source: {} } } });
  });

  it('may make the body 32 levels deep, but not 33', async () => {
    expect(await post(nested(31))).toMatchObject({ status: 201 });
    expect(await post(nested(32))).toMatchObject({ status: 400, json: { status: 400 } });
    const test = (data: string) => stack.request('POST', `${eventsPath}/raid/test`, { body: data });
    expect(await test(nested(32))).toMatchObject({ status: 200 });
    expect(await test(nested(33))).toMatchObject({ status: 400, json: { status: 400 } });
  });

  it('may be as large as a body allows, and such events are still listed, on smaller pages', async () => {
    const type = uniqueType('large');
    // JSON text escapes quotes and backslashes, doubling its size. As a string in a message, the text doubles again.
    const data = `{"text":"${String.raw`\"\\`.repeat(60_000)}"}`;
    for (let index = 0; index < 4; index += 1) expect((await post(data, type)).status).toBe(201);
    const found: EventRecord[] = [];
    let next: string | null = `${eventsPath}?event_type=${type}&page_size=100`;
    while (next !== null) {
      const page: { status: number; json: EventPage } = await stack.request<EventPage>('GET', next);
      expect(page.status).toBe(200);
      found.push(...page.json.results);
      next = page.json.next;
    }
    expect(found).toHaveLength(4);
    await stack.waitUntilPublished();
    expect((await stack.readStream()).filter(({ record }) => record.event_type === type)).toHaveLength(4);
  });
});
