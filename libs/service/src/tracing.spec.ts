import { ConfigError, loadConfig } from './config.js';
import { tracingVariables } from './shared-variables.js';
import { parseTraceparent, printTraceparent, startTracing, Tracing, type Span } from './tracing.js';

const ids = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };

describe(printTraceparent.name, () => {
  it('prints what parseTraceparent reads', () => {
    expect(printTraceparent(ids)).toBe('00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01');
    expect(parseTraceparent(printTraceparent(ids))).toEqual(ids);
  });
});

describe(parseTraceparent.name, () => {
  it('reads a later version with more fields', () => {
    expect(parseTraceparent(`cc-${ids.traceId}-${ids.spanId}-03-more`)).toEqual(ids);
  });

  it.each([
    ['is missing', undefined],
    ['is empty', ''],
    ['is not sampled', `00-${ids.traceId}-${ids.spanId}-00`],
    ['has no trace id', `00-${'0'.repeat(32)}-${ids.spanId}-01`],
    ['has no span id', `00-${ids.traceId}-${'0'.repeat(16)}-01`],
    ['is in upper case', `00-${ids.traceId.toUpperCase()}-${ids.spanId}-01`],
    ['is too short', '00-abc-def-01'],
  ])('finds nothing when the header %s', (_case, text) => {
    expect(parseTraceparent(text)).toBeUndefined();
  });
});

describe(Tracing.name, () => {
  const spanOf = (spanId: string): Span => ({ ids: { ...ids, spanId }, end: () => undefined });
  const tracing = (): Tracing => new Tracing({ start: () => undefined, close: () => Promise.resolve() });

  it('finds a kept span by its key until it is taken', () => {
    const sut = tracing();
    const span = spanOf('1');
    sut.keep('request', span);
    expect(sut.find('request')).toBe(span.ids);
    expect(sut.find('another')).toBeUndefined();
    expect(sut.find(undefined)).toBeUndefined();
    expect(sut.take('request')).toBe(span);
    expect(sut.find('request')).toBeUndefined();
  });

  it('forgets the oldest of too many spans', () => {
    const sut = tracing();
    for (let index = 0; index <= 4_096; index += 1) sut.keep(String(index), spanOf(String(index)));
    expect(sut.find('0')).toBeUndefined();
    expect(sut.find('1')).toBeDefined();
    expect(sut.find('4096')).toBeDefined();
  });
});

describe(startTracing.name, () => {
  const service = { name: 'events', variables: tracingVariables };

  const unexpected = (error: unknown): void => {
    throw new Error('the receiver was not expected to fail', { cause: error });
  };

  it('starts no traces without an endpoint', async () => {
    expect(await startTracing(service, {}, unexpected)).toBeUndefined();
    expect(await startTracing({ name: 'simulator', variables: {} }, endpoint, unexpected)).toBeUndefined();
  });

  it('starts traces with an endpoint', async () => {
    const sut = await startTracing(service, { ...endpoint, OTEL_TRACES_SAMPLER: 'always_on' }, unexpected);
    expect(sut?.start('work', { kind: 'server' })?.ids.traceId).toMatch(/^[0-9a-f]{32}$/);
    const child = sut?.start('work', { kind: 'client', parent: ids });
    expect(child?.ids).toMatchObject({ traceId: ids.traceId });
  });

  it.each([
    ['always_off', '1', 0],
    ['traceidratio', '0', 0],
    ['traceidratio', '1', 100],
    ['parentbased_always_on', '0', 100],
    ['parentbased_always_off', '1', 0],
    ['parentbased_traceidratio', '0', 0],
  ])('samples with %s and the share %s %i of 100 traces', async (sampler, share, expected) => {
    const environment = { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: share };
    const sut = await startTracing(service, { ...endpoint, ...environment }, unexpected);
    const spans = Array.from({ length: 100 }, () => sut?.start('work', { kind: 'server' }));
    expect(spans.filter((span) => span !== undefined)).toHaveLength(expected);
  });

  it('samples 1 % unless given', () => {
    expect(loadConfig(tracingVariables, {})).toMatchObject({
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: 0.01,
    });
  });
});

describe('OTEL_EXPORTER_OTLP_HEADERS', () => {
  const read = (OTEL_EXPORTER_OTLP_HEADERS: string) =>
    loadConfig(tracingVariables, { OTEL_EXPORTER_OTLP_HEADERS });

  it('is a list of names and values in percent-encoding', () => {
    const { OTEL_EXPORTER_OTLP_HEADERS: headers } = read('Authorization=Bearer%20abc=, x-team = streams');
    expect(headers).toEqual({ Authorization: 'Bearer abc=', 'x-team': 'streams' });
  });

  it('is refused without a name', () => {
    expect(() => read('abc')).toThrow(ConfigError);
  });
});

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
