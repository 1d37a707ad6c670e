import { describeSchema, describeUpgrade } from '@stream-events/testing';
import { connectGateway } from '../test/connect-gateway.js';
import { schema } from './gateway.database.js';

describeSchema(schema.name, (database) => connectGateway(database, 1));

describeUpgrade(schema, {
  'access_tokens has the new unique access_tokens_id_unique':
    'a column that 0.1.0 leaves to its random default',
  'replays.replayed has the type float8 instead of int4': 'pg returns both types as numbers',
});
