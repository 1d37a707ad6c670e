import {
  BadRequestException,
  HttpException,
  MethodNotAllowedException,
  NotFoundException,
} from '@nestjs/common';
import { errorCatalogue, ServiceError, type ErrorCode } from '@stream-events/contracts';
import type { FastifyReply } from 'fastify';
import { sendProblem, toProblem, toServiceError } from './problem.js';

/** An error in the form that Fastify throws. */
function fastifyError(statusCode: number, code: string, message = 'of the framework'): Error {
  return Object.assign(new Error(message), { statusCode, code: `FST_ERR_${code}` });
}

/** An error in the form that pg throws. */
function databaseError(code: string): Error {
  return Object.assign(new Error('of the database'), { code });
}

describe(toServiceError.name, () => {
  it('returns a ServiceError unchanged', () => {
    const error = new ServiceError('conflict', 'The user name ada is taken.');

    expect(toServiceError(error)).toBe(error);
  });

  // Error messages repeat text from clients. This text must not make an error look like a lost connection.
  it.each(['timeout', 'Connection', 'ECONNRESET', 'terminated', 'EPIPE', 'not established'])(
    'is not misled by the text %s from a client',
    (word) => {
      const conflict = new ServiceError('conflict', `The user name ${word} is taken.`);

      expect(toServiceError(conflict)).toBe(conflict);
      expect(toServiceError(new NotFoundException(`Cannot GET /${word}`)).code).toBe('not_found');
      expect(toServiceError(new BadRequestException(`bad ${word}`)).code).toBe('invalid');
      expect(toServiceError(fastifyError(400, 'BAD_URL', `'/${word}%' is bad`)).code).toBe('invalid');
    },
  );

  it.each([
    ['an unknown path', new NotFoundException('Cannot GET /a'), 'not_found', /^Nothing exists at this path/],
    ['a wrong method', new MethodNotAllowedException(), 'method_not_allowed', /./],
    [
      'a wrong type',
      fastifyError(415, 'CTP_INVALID_MEDIA_TYPE'),
      'unsupported_media_type',
      /application\/json/,
    ],
    ['a big body', fastifyError(413, 'CTP_BODY_TOO_LARGE'), 'too_large', /256 KiB/],
    ['a wrong length', fastifyError(400, 'CTP_INVALID_CONTENT_LENGTH'), 'invalid', /Content-Length/],
    ['a bad URL', fastifyError(400, 'BAD_URL'), 'invalid', /URL/],
    ['a long path', fastifyError(414, 'MAX_PARAM_LENGTH', 'x'.repeat(5_000)), 'invalid', /^.{1,100}$/],
    ['a wrong type, by Nest', new HttpException('no', 415), 'unsupported_media_type', /application\/json/],
    ['a big body, by Nest', new HttpException('too large', 413), 'too_large', /256 KiB/],
    [
      'a status that the API does not use',
      new HttpException('Range Not Satisfiable', 416),
      'invalid',
      /^Range/,
    ],
  ])('maps %s', (_what, thrown, code, detail) => {
    const error = toServiceError(thrown);

    expect(error.code).toBe(code);
    expect(error.detail).toMatch(detail);
    // The cause would be logged, and the URL in it may contain a token.
    expect(error.cause).toBeUndefined();
  });

  it.each(['08006', '57P01', '53300', '57014', '25006'])('maps SQLSTATE %s to unavailable', (state) => {
    expect(toServiceError(databaseError(state))).toMatchObject({
      code: 'unavailable',
      retryAfterSeconds: 1,
    });
  });

  it('maps a lost connection to the database to unavailable', () => {
    expect(toServiceError(new Error('Connection terminated unexpectedly')).code).toBe('unavailable');
  });

  it.each([
    new Error('a secret: hunter2'),
    databaseError('23502'),
    fastifyError(500, 'REP_ALREADY_SENT', 'hunter2'),
    new HttpException('hunter2', 500),
    'hunter2',
    undefined,
    null,
    42,
    { statusCode: 400 },
  ])('maps %p to internal, hides it from the client, and keeps it as the cause for the log', (thrown) => {
    const error = toServiceError(thrown);

    expect(error.code).toBe('internal');
    expect(JSON.stringify(toProblem(error))).not.toContain('hunter2');
    expect(error.cause).toBe(thrown);
  });
});

describe(sendProblem.name, () => {
  function send(error: ServiceError) {
    const answer = { status: 0, headers: {} as Record<string, string>, body: '' };
    const reply = {
      code: (status: number) => ((answer.status = status), reply),
      headers: (headers: Record<string, string>) => ((answer.headers = headers), reply),
      send: (body: string) => ((answer.body = body), reply),
    };
    // Safe cast: sendProblem only calls these three methods.
    sendProblem(reply as unknown as FastifyReply, error);
    return { ...answer, problem: JSON.parse(answer.body) as Record<string, unknown> };
  }

  it.each(Object.keys(errorCatalogue) as ErrorCode[])(
    'responds to %s with a problem document and its status',
    (code) => {
      const { status, headers, problem } = send(new ServiceError(code, 'what happened'));

      expect(status).toBe(errorCatalogue[code].status);
      expect(headers['content-type']).toBe('application/problem+json');
      expect(headers['cache-control']).toBe('no-store');
      expect(problem).toEqual({
        type: 'about:blank',
        title: errorCatalogue[code].title,
        status: errorCatalogue[code].status,
        detail: 'what happened',
      });
    },
  );

  it('adds the errors by field', () => {
    expect(send(ServiceError.onField('cursor', 'is broken')).problem.errors).toEqual({
      cursor: ['is broken'],
    });
  });

  it('names the authentication scheme', () => {
    expect(send(new ServiceError('unauthenticated', 'no')).headers['www-authenticate']).toBe('Token');
  });

  it('gives Retry-After in whole seconds', () => {
    const error = new ServiceError('too_many_requests', 'wait', { retryAfterSeconds: 1.2 });

    expect(send(error).headers['retry-after']).toBe('2');
    expect(send(new ServiceError('unavailable', 'wait')).headers['retry-after']).toBe('1');
  });

  it('lists the methods of the path in Allow', () => {
    const error = new ServiceError('method_not_allowed', 'no', { allow: ['GET', 'HEAD'] });

    expect(send(error).headers.allow).toBe('GET, HEAD');
  });
});
