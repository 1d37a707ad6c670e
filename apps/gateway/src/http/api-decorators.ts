import { applyDecorators, type Type } from '@nestjs/common';
import {
  ApiBody,
  ApiExtraModels,
  ApiParam,
  ApiResponse,
  getSchemaPath,
  type OpenAPIObject,
} from '@nestjs/swagger';
import { errorCatalogue, type ErrorCode } from '@stream-events/contracts';
import { Problem } from './problem.dto.js';

/** Name of the token scheme in the API description. */
export const tokenScheme = 'token';

/** Error descriptions that all routes with a JSON body share. Spread them into `RefusesWith`. */
export const badBody = {
  invalid: 'The body or a field is missing or invalid',
  too_large: 'The body is larger than 256 KiB',
  unsupported_media_type: 'The content type is not application/json',
};

type Decorator = MethodDecorator & ClassDecorator;
type Responses = NonNullable<NonNullable<OpenAPIObject['components']>['responses']>;

/** The content of a response: one record, a list of records, or text. Text has the type `text/plain` unless `mediaType` is set. */
interface AnswerContent {
  type?: Type;
  isArray?: boolean;
  /** The record that a token with fewer rights gets. */
  limitedType?: Type;
  example?: string;
  mediaType?: string;
  /** Adds a Location header with the path of the created record. */
  location?: boolean;
}

/** Adds a response to the API description of a route. */
export function Answers(status: number, description: string, content: AnswerContent = {}): Decorator {
  const { type, isArray = false, limitedType, example, mediaType = 'text/plain', location } = content;
  const headers = {
    Location: { description: 'Path of the created record', schema: { type: 'string' as const } },
  };
  if (type && limitedType) {
    const types = [type, limitedType];
    const schema = { anyOf: types.map((each) => ({ $ref: getSchemaPath(each) })) };
    return applyDecorators(ApiExtraModels(...types), ApiResponse({ status, description, schema }));
  }
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

export function DescribesId(description: string, name = 'id'): MethodDecorator {
  const schema = { type: 'string' as const, format: 'uuid', example: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11' };
  return ApiParam({ name, description, schema });
}

export function Accepts(type: Type): MethodDecorator {
  return ApiBody({ type, required: true });
}

export function MayAccept(type: Type): MethodDecorator {
  return ApiBody({ type, required: false });
}

export function AcceptsAnyObject(description: string, example: Record<string, unknown>): MethodDecorator {
  return ApiBody({
    description,
    required: true,
    schema: { type: 'object', additionalProperties: true, example },
  });
}

/** Documents the errors of a route, with the reason for each. The headers and bodies come from the components of `errorResponses`. */
export function RefusesWith(reasons: Partial<Record<ErrorCode, string>>): Decorator {
  const responses = Object.entries(reasons).map(([code, description]) => {
    const { status } = errorCatalogue[code as ErrorCode]; // Safe cast: the type of `reasons` allows only error codes as keys.
    // OpenAPI 3.1 allows a description beside a reference. The types of @nestjs/swagger describe OpenAPI 3.0, which does not.
    const reference = { $ref: `#/components/responses/${componentOf(code as ErrorCode)}` };
    return ApiResponse({ status, description, ...reference });
  });
  return applyDecorators(...responses);
}

/** Builds one response component per error, with its headers and an example problem document. Operations refer to these components. */
export function errorResponses(): Responses {
  const codes = Object.keys(errorCatalogue) as ErrorCode[]; // Safe cast: the keys of the catalog are the codes.
  return Object.fromEntries(codes.map((code) => [componentOf(code), describeError(code)]));
}

function describeError(code: ErrorCode): Responses[string] {
  const { status, title } = errorCatalogue[code];
  const { detail, headers, errors } = errorDescriptions[code];
  const example = { type: 'about:blank', title, status, detail, ...(errors && { errors }) };
  return {
    description: title,
    ...(headers && {
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, description]) => [
          name,
          { description, schema: { type: 'string' } },
        ]),
      ),
    }),
    content: { 'application/problem+json': { schema: { $ref: getSchemaPath(Problem) }, example } },
  };
}

/** Derives the name of an error's component from its title: `Not Found` becomes `NotFound`. */
function componentOf(code: ErrorCode): string {
  return errorCatalogue[code].title.replaceAll(' ', '');
}

interface ErrorDescription {
  detail: string;
  /** Header name to description. */
  headers?: Record<string, string>;
  /** Example of `errors`: the messages for each field. */
  errors?: Record<string, string[]>;
}

const retryAfter = { 'Retry-After': 'Seconds to wait before the next attempt' };

const errorDescriptions: Record<ErrorCode, ErrorDescription> = {
  invalid: {
    detail: 'event_type: must be text of 1 to 255 characters',
    errors: { event_type: ['must be text of 1 to 255 characters'] },
  },
  unauthenticated: { detail: 'Invalid token.', headers: { 'WWW-Authenticate': 'Always `Token`' } },
  forbidden: { detail: 'This request needs an owner’s token.' },
  not_found: { detail: 'There is no scope 0bd92a09-59b5-536f-880a-7140fc066e18.' },
  method_not_allowed: {
    detail: 'This path does not support PUT. It supports GET, HEAD, POST.',
    headers: { Allow: 'The methods that the path supports' },
  },
  request_timeout: { detail: 'The body of the request did not arrive in time.' },
  conflict: { detail: 'The user name overlay-bot is taken.' },
  too_large: { detail: 'The body is larger than 256 KiB.' },
  unsupported_media_type: { detail: 'Send the body with the header Content-Type: application/json.' },
  upgrade_required: {
    detail: 'This path accepts WebSockets only: connect with a WebSocket client.',
    headers: { Upgrade: 'Always `websocket`' },
  },
  too_many_requests: {
    detail:
      'Too many failed logins with this user name from this address. Retry after the time in `Retry-After`.',
    headers: retryAfter,
  },
  internal: {
    detail: 'The service failed unexpectedly. Search its logs for the X-Request-Id of this response.',
  },
  unavailable: {
    detail: 'The event store is unavailable. Retry after the time in `Retry-After`.',
    headers: retryAfter,
  },
};
