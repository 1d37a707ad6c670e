import {
  createApiEndpoint,
  createScope,
  deleteApiEndpoint,
  deleteScope,
  getApiEndpoint,
  getScope,
  listApiEndpoints,
  listScopes,
  updateApiEndpoint,
  updateScope,
} from '@stream-events/contracts';

/** The contracts that this folder's controllers answer. */
export const catalogueContracts = [
  listScopes,
  createScope,
  getScope,
  updateScope,
  deleteScope,
  listApiEndpoints,
  createApiEndpoint,
  getApiEndpoint,
  updateApiEndpoint,
  deleteApiEndpoint,
];
