import { applyDecorators, type Type } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiResponse, ApiSecurity, getSchemaPath } from '@nestjs/swagger';
import { errorCatalogue, type ErrorCode } from '@stream-events/contracts';
import { Problem } from '../http/problem.dto.js';

/** Name of the token scheme in the API description. */
export const tokenScheme = 'token';

type Decorator = MethodDecorator & ClassDecorator;

/** Describes an answer: its status, what it says, its body and its headers. */
export function Answers(
  status: number,
  description: string,
  body?: { type?: Type; isArray?: boolean; location?: boolean },
): Decorator {
  const headers = body?.location
    ? { Location: { description: 'Path of the created record', schema: { type: 'string' } } }
    : undefined;
  return ApiResponse({
    status,
    description,
    ...(body?.type && { type: body.type, isArray: body.isArray ?? false }),
    ...(headers && { headers }),
  });
}

/** Describes the JSON body that a route takes. */
export function Accepts(type: Type): MethodDecorator {
  return ApiBody({ type, required: true });
}

/** Describes a body that is any JSON object. */
export function AcceptsAnyObject(description: string): MethodDecorator {
  const example = {
    broadcaster_user_id: '47019283',
    broadcaster_user_login: 'mira_plays',
    broadcaster_user_name: 'Mira_Plays',
  };
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
  if (code === 'method_not_allowed') return { Allow: header('Methods that this path has') };
  return {};
}
