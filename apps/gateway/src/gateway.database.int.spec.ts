import { describeSchema, describeUpgrade } from '@stream-events/testing';
import { connectGateway } from '../test/connect-gateway.js';
import { schema } from './gateway.database.js';

describeSchema(schema.name, (database) => connectGateway(database, 1));

describeUpgrade(schema);
