import { applyDecorators, type Type } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiParam, ApiResponse, ApiSecurity, getSchemaPath } from '@nestjs/swagger';
import { errorCatalogue, type ErrorCode } from '@stream-events/contracts';
import { Problem } from './problem.dto.js';

/** Name of the token scheme in the API description. */
export const tokenScheme = 'token';

/** Why a route that takes a body refuses one; for `RefusesWith`. */
export const badBody = {
  invalid: 'A field or the body is missing or wrong',
  too_large: 'The body is over 256 KiB',
  unsupported_media_type: 'The body is not application/json',
};

type Decorator = MethodDecorator & ClassDecorator;

/** What an answer holds: a record (or several), or text, plain unless said otherwise, of which an example is given. */
interface AnswerContent {
  type?: Type;
  isArray?: boolean;
  example?: string;
  mediaType?: string;
  /** Whether a Location header names the created record. */
  location?: boolean;
}

/** Describes an answer: its status, what it says, its content and its headers. */
export function Answers(status: number, description: string, content: AnswerContent = {}): Decorator {
  const { type, isArray = false, example, mediaType = 'text/plain', location } = content;
  const headers = {
    Location: { description: 'Path of the created record', schema: { type: 'string' as const } },
  };
  return ApiResponse({
    status,
    description,
    ...(type && { type, isArray }),
    ...(example !== undefined && {
      content: { [mediaType]: { schema: { type: 'string' as const }, example } },
    }),
    ...(location && { headers }),
  });
}

/** Describes an id of the path. */
export function DescribesId(description: string, name = 'id'): MethodDecorator {
  const schema = { type: 'string' as const, format: 'uuid', example: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11' };
  return ApiParam({ name, description, schema });
}

/** Describes the JSON body that a route takes. */
export function Accepts(type: Type): MethodDecorator {
  return ApiBody({ type, required: true });
}

/** Describes a body that is any JSON object. */
export function AcceptsAnyObject(description: string, example: Record<string, unknown>): MethodDecorator {
  return ApiBody({
    description,
    required: true,
    schema: { type: 'object', additionalProperties: true, example },
  });
}

/** Says that a route needs a token, with the errors that follow from that. */
export function RequiresToken(): Decorator {
  return applyDecorators(
    ApiSecurity(tokenScheme),
    RefusesWith({
      unauthenticated: 'No valid token',
      unavailable: 'A part of the service that this needs is down',
    }),
  );
}

/** Describes the errors that a route answers with, each with its reason and an example. */
export function RefusesWith(reasons: Partial<Record<ErrorCode, string>>): Decorator {
  const responses = Object.entries(reasons).map(([code, reason]) => describeError(code as ErrorCode, reason)); // holds: the keys are codes
  return applyDecorators(ApiExtraModels(Problem), ...responses);
}

function describeError(code: ErrorCode, reason: string): MethodDecorator & ClassDecorator {
  const { status, title } = errorCatalogue[code];
  const example = {
    type: 'about:blank',
    title,
    status,
    detail: `${reason}.`,
    ...(code === 'invalid' && { errors: { '<field or parameter>': ['what is wrong with it'] } }),
  };
  return ApiResponse({
    status,
    description: reason,
    headers: headersOf(code),
    content: { 'application/problem+json': { schema: { $ref: getSchemaPath(Problem) }, example } },
  });
}

function headersOf(code: ErrorCode): Record<string, { description: string; schema: { type: 'string' } }> {
  const header = (description: string) => ({ description, schema: { type: 'string' as const } });
  if (code === 'unauthenticated') return { 'WWW-Authenticate': header('Always `Token`') };
  if (code === 'unavailable' || code === 'too_many_requests')
    return { 'Retry-After': header('Seconds to wait') };
  if (code === 'upgrade_required') return { Upgrade: header('Always `websocket`') };
  if (code === 'method_not_allowed') return { Allow: header('Methods that this path has') };
  return {};
}
