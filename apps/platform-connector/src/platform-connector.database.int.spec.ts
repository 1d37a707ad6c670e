import { describeSchema, describeUpgrade } from '@stream-events/testing';
import { connectConnector } from '../test/connect-connector.js';
import { schema } from './platform-connector.database.js';

describeSchema(schema.name, (database) => connectConnector(database, 1));

describeUpgrade(schema);
