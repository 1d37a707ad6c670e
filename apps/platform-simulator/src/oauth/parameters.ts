import { BadRequestException } from '@nestjs/common';
import { scopes as knownScopes } from '@stream-events/platforms';

/** Parameters of a form or query. */
export type Parameters = Record<string, unknown>;

/** @throws BadRequestException if the parameter is missing */
export function readText(parameters: Parameters, name: string): string {
  const value = readOptional(parameters, name);
  if (value === undefined) throw new BadRequestException(`missing ${name.replace('_', ' ')}`);
  return value;
}

export function readOptional(parameters: Parameters, name: string): string | undefined {
  const value = parameters[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

const descriptions = new Map(knownScopes.map(({ scope, description }) => [scope, description]));

/**
 * Splits a space-separated list into distinct scopes.
 *
 * @throws BadRequestException for an unknown scope
 */
export function readScopes(list: string | undefined): string[] {
  const scopes = [...new Set((list ?? '').split(/[ +]+/).filter((scope) => scope !== ''))];
  const unknown = scopes.find((scope) => !descriptions.has(scope));
  if (unknown !== undefined) throw new BadRequestException(`invalid scope requested: '${unknown}'`);
  return scopes;
}

/** Describes a scope for the consent page. */
export function describeScope(scope: string): string {
  return descriptions.get(scope) ?? scope;
}
