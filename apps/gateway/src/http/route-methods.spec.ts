import type { FastifyInstance } from 'fastify';
import { RouteMethods } from './route-methods.js';

type Listener = (route: { url: string; method: string | string[] }) => void;

function setup(routes: [method: string | string[], url: string][]): RouteMethods {
  let listener: Listener | undefined;
  const fastify = {
    addHook: (name: string, hook: Listener) => {
      if (name === 'onRoute') listener = hook;
    },
  };
  const sut = new RouteMethods();
  // Safe cast: RouteMethods only adds hooks.
  sut.watch(fastify as unknown as FastifyInstance);
  for (const [method, url] of routes) listener?.({ method, url });
  return sut;
}

describe(RouteMethods.name, () => {
  const sut = setup([
    ['POST', '/events'],
    ['GET', '/events'],
    ['HEAD', '/events'],
    [['GET', 'HEAD'], '/events/:id'],
    ['POST', '/events/:event_type/test'],
    ['PATCH', '/events/mine'],
    ['GET', '/openapi.json'],
    ['OPTIONS', '*'],
    ['GET', '/docs/*'],
  ]);

  it('returns the methods of a path, sorted and without duplicates', () => {
    expect(sut.methodsOf('/events')).toEqual(['GET', 'HEAD', 'POST']);
  });

  it('matches a parameter with one segment of a path', () => {
    expect(sut.methodsOf('/events/1')).toEqual(['GET', 'HEAD']);
    expect(sut.methodsOf('/events/stream.online/test')).toEqual(['POST']);
    expect(sut.methodsOf('/events/a/b/test')).toEqual([]);
    expect(sut.methodsOf('/events/')).toEqual([]);
  });

  it('prefers a route without parameters', () => {
    expect(sut.methodsOf('/events/mine')).toEqual(['PATCH']);
  });

  it('matches a dot literally', () => {
    expect(sut.methodsOf('/openapi.json')).toEqual(['GET']);
    expect(sut.methodsOf('/openapi-json')).toEqual([]);
  });

  it('matches every path below a wildcard', () => {
    expect(sut.methodsOf('/docs/anything/below')).toEqual(['GET']);
    expect(sut.methodsOf('/docs')).toEqual([]);
    expect(sut.refuseMethod({ method: 'POST', url: '/docs/anything?a' })?.allow).toEqual(['GET']);
    expect(sut.refuseMethod({ method: 'GET', url: '/docs/anything' })).toBeUndefined();
  });

  it('returns nothing for unknown paths', () => {
    expect(sut.methodsOf('/nothing')).toEqual([]);
    expect(sut.methodsOf('')).toEqual([]);
  });
});
