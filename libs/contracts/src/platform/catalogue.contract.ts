import { Type } from 'class-transformer';
import {
  IsArray,
  IsBoolean,
  IsIn,
  IsObject,
  IsOptional,
  IsString,
  IsUUID,
  ValidateNested,
} from 'class-validator';
import { defineContract } from '../contract.js';
import { IsText } from '../text.js';

/** Whose token an API endpoint takes: a user's (`OA`), or the app's own (`AP`). */
export const tokenTypes = ['OA', 'AP'] as const;
export type TokenType = (typeof tokenTypes)[number];

/** A permission that users of the platform can grant. */
export class ScopeMessage {
  @IsUUID('all')
  id!: string;

  @IsString()
  scope!: string;

  @IsBoolean()
  required!: boolean;
}

/** Asks for a page of a list that is kept whole. */
export class ListCatalogueRequest {
  /** From the page before: where this one begins. */
  @IsOptional()
  @IsString()
  after?: string;
}

export class ListScopesReply {
  /** By `scope`, then by id. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => ScopeMessage)
  scopes!: ScopeMessage[];

  /** `after` of the next page; null means the end. */
  @IsOptional()
  @IsString()
  next!: string | null;
}

/** One page of the scopes, of at most 500. */
export const listScopes = defineContract({
  subject: 'request.platform-connector.list-scopes',
  request: ListCatalogueRequest,
  reply: ListScopesReply,
  errors: [],
  timeoutMs: 5_000,
});

export class CreateScopeRequest {
  @IsText(1, 255)
  scope!: string;

  @IsBoolean()
  required!: boolean;
}

/** Adds a scope; duplicates are permitted. */
export const createScope = defineContract({
  subject: 'request.platform-connector.create-scope',
  request: CreateScopeRequest,
  reply: ScopeMessage,
  errors: [],
  timeoutMs: 5_000,
});

/** Names a scope or an API endpoint. */
export class CatalogueItemRequest {
  @IsUUID('all')
  id!: string;
}

/** One scope. */
export const getScope = defineContract({
  subject: 'request.platform-connector.get-scope',
  request: CatalogueItemRequest,
  reply: ScopeMessage,
  errors: ['not_found'],
  timeoutMs: 5_000,
});

/** Fields that are left out stay as they are. */
export class UpdateScopeRequest extends CatalogueItemRequest {
  @IsOptional()
  @IsText(1, 255)
  scope?: string;

  @IsOptional()
  @IsBoolean()
  required?: boolean;
}

/** Changes a scope. */
export const updateScope = defineContract({
  subject: 'request.platform-connector.update-scope',
  request: UpdateScopeRequest,
  reply: ScopeMessage,
  errors: ['not_found'],
  timeoutMs: 5_000,
});

/** What is gone. */
export class DeletedReply {
  @IsUUID('all')
  id!: string;
}

/** Removes a scope; `conflict` while an API endpoint names it. */
export const deleteScope = defineContract({
  subject: 'request.platform-connector.delete-scope',
  request: CatalogueItemRequest,
  reply: DeletedReply,
  errors: ['not_found', 'conflict'],
  timeoutMs: 5_000,
});

export class CreateApiEndpointRequest {
  @IsText(1, 255)
  description!: string;

  @IsText(1, 255)
  endpoint!: string;

  @IsText(1, 16)
  method!: string;

  @IsText(1, 255)
  referenceUrl!: string;

  @IsIn(tokenTypes)
  tokenType!: TokenType;

  /** The id of a scope; null when none is needed. */
  @IsOptional()
  @IsUUID('all')
  scope!: string | null;
}

/** An endpoint of the platform's API. */
export class ApiEndpointMessage extends CreateApiEndpointRequest {
  @IsUUID('all')
  id!: string;
}

export class ListApiEndpointsReply {
  /** In the order of their creation. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => ApiEndpointMessage)
  apiEndpoints!: ApiEndpointMessage[];

  /** `after` of the next page; null means the end. */
  @IsOptional()
  @IsString()
  next!: string | null;
}

/** One page of the API endpoints, of at most 200: a reply is one message of at most 1 MiB. */
export const listApiEndpoints = defineContract({
  subject: 'request.platform-connector.list-api-endpoints',
  request: ListCatalogueRequest,
  reply: ListApiEndpointsReply,
  errors: [],
  timeoutMs: 5_000,
});

/** Adds an API endpoint; duplicates are permitted. `invalid` (on `scope`): there is no such scope. */
export const createApiEndpoint = defineContract({
  subject: 'request.platform-connector.create-api-endpoint',
  request: CreateApiEndpointRequest,
  reply: ApiEndpointMessage,
  errors: ['invalid'],
  timeoutMs: 5_000,
});

/** One API endpoint. */
export const getApiEndpoint = defineContract({
  subject: 'request.platform-connector.get-api-endpoint',
  request: CatalogueItemRequest,
  reply: ApiEndpointMessage,
  errors: ['not_found'],
  timeoutMs: 5_000,
});

/** Fields that are left out stay as they are; a `scope` of null is no scope. */
export class UpdateApiEndpointRequest extends CatalogueItemRequest {
  @IsOptional()
  @IsText(1, 255)
  description?: string;

  @IsOptional()
  @IsText(1, 255)
  endpoint?: string;

  @IsOptional()
  @IsText(1, 16)
  method?: string;

  @IsOptional()
  @IsText(1, 255)
  referenceUrl?: string;

  @IsOptional()
  @IsIn(tokenTypes)
  tokenType?: TokenType;

  @IsOptional()
  @IsUUID('all')
  scope?: string | null;
}

/** Changes an API endpoint. `invalid` (on `scope`): there is no such scope. */
export const updateApiEndpoint = defineContract({
  subject: 'request.platform-connector.update-api-endpoint',
  request: UpdateApiEndpointRequest,
  reply: ApiEndpointMessage,
  errors: ['not_found', 'invalid'],
  timeoutMs: 5_000,
});

/** Removes an API endpoint. */
export const deleteApiEndpoint = defineContract({
  subject: 'request.platform-connector.delete-api-endpoint',
  request: CatalogueItemRequest,
  reply: DeletedReply,
  errors: ['not_found'],
  timeoutMs: 5_000,
});
