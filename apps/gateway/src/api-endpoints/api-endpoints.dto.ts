import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { IsText } from '@stream-events/contracts';
import { tokenTypes, type TokenType } from '@stream-events/platforms';
import { IsIn, isUUID, ValidateBy } from 'class-validator';
import { MayBeAbsent, Trimmed } from '../http/json-body.decorator.js';
import type { ApiEndpoint } from './api-endpoint.entity.js';

const texts = {
  description: { maxLength: 255, description: 'What the endpoint does', example: 'Start a raid' },
  endpoint: {
    maxLength: 255,
    description:
      'The path, relative to the base URL of the platform’s API, without the segments `.` and `..`',
    example: 'raids',
  },
  method: { maxLength: 16, description: 'The HTTP method', example: 'POST' },
  reference_url: {
    maxLength: 255,
    description: 'URL of the platform’s documentation',
    example: 'https://platform.example/docs/api#start-a-raid',
  },
};

const tokenType = {
  enum: [...tokenTypes],
  description:
    'The token that the endpoint requires: `OA` for a user’s OAuth token, `AP` for the app’s own token',
  example: 'AP',
};

const scope = {
  type: String,
  nullable: true,
  format: 'uuid',
  description: 'The id of the scope that the endpoint needs. Null if it needs none',
  example: '0bd92a09-59b5-536f-880a-7140fc066e18',
};

// `.` or `..` between slashes, also percent-encoded. Browsers resolve such a segment, so a call of the endpoint would reach another
// address.
const dotSegment = /(^|[/\\])(\.|%2e){1,2}($|[/\\])/i;

function HasNoDotSegments(): PropertyDecorator {
  return ValidateBy({
    name: 'hasNoDotSegments',
    validator: {
      validate: (value: unknown) => typeof value !== 'string' || !dotSegment.test(value),
      defaultMessage: () => 'must not contain the segments . and ..',
    },
  });
}

/** A trimmed text field of a body. */
function IsTextField(field: keyof typeof texts, required: boolean): PropertyDecorator {
  const { maxLength, description, example } = texts[field];
  return applyDecorators(
    ApiProperty({ required, minLength: 1, maxLength, description: `${description}. Trimmed`, example }),
    Trimmed(),
    ...(required ? [] : [MayBeAbsent()]),
    IsText(1, maxLength),
    ...(field === 'endpoint' ? [HasNoDotSegments()] : []),
  );
}

function IsTokenType(required: boolean): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ required, ...tokenType }),
    Trimmed(),
    ...(required ? [] : [MayBeAbsent()]),
    IsIn(tokenTypes, { message: `must be ${tokenTypes.join(' or ')}` }),
  );
}

/** A UUID or null. `ApiEndpointsService` checks that the scope exists. */
function IsScopeOrNull(): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ required: false, ...scope }),
    MayBeAbsent(),
    ValidateBy({
      name: 'isScopeOrNull',
      validator: {
        validate: (value: unknown) => value === null || isUUID(value, 'all'),
        defaultMessage: () => 'must be the id of a scope, or null',
      },
    }),
  );
}

/** Body of POST and PUT. A missing `scope` means null. */
export class ApiEndpointBody {
  @IsTextField('description', true)
  description!: string;

  @IsTextField('endpoint', true)
  endpoint!: string;

  @IsTextField('method', true)
  method!: string;

  @IsTextField('reference_url', true)
  reference_url!: string;

  @IsTokenType(true)
  token_type!: TokenType;

  @IsScopeOrNull()
  scope?: string | null;
}

/** Body of PATCH. Missing fields keep their values. */
export class ApiEndpointChangesBody {
  @IsTextField('description', false)
  description?: string;

  @IsTextField('endpoint', false)
  endpoint?: string;

  @IsTextField('method', false)
  method?: string;

  @IsTextField('reference_url', false)
  reference_url?: string;

  @IsTokenType(false)
  token_type?: TokenType;

  @IsScopeOrNull()
  scope?: string | null;
}

export class ApiEndpointRecord {
  @ApiProperty({
    format: 'uuid',
    description: 'The id of the API endpoint, assigned by the service',
    example: 'fcbf7afb-7afe-5631-8b46-8fe8e0d015ab',
  })
  id!: string;

  @ApiProperty(texts.description)
  description!: string;

  @ApiProperty(texts.endpoint)
  endpoint!: string;

  @ApiProperty(texts.method)
  method!: string;

  @ApiProperty(texts.reference_url)
  reference_url!: string;

  @ApiProperty(tokenType)
  token_type!: TokenType;

  @ApiProperty(scope)
  scope!: string | null;
}

export function toApiEndpointRecord(apiEndpoint: ApiEndpoint): ApiEndpointRecord {
  return {
    id: apiEndpoint.id,
    description: apiEndpoint.description,
    endpoint: apiEndpoint.endpoint,
    method: apiEndpoint.method,
    reference_url: apiEndpoint.referenceUrl,
    token_type: apiEndpoint.tokenType,
    scope: apiEndpoint.scope,
  };
}
