import { describeSchema, describeUpgrade } from '@stream-events/testing';
import { connectConnector } from '../test/connect-connector.js';
import { schema } from './platform-connector.database.js';

// The gateway has its own copies of these tables. A later version of the connector will drop them.
const retiredTables = ['scopes', 'api_endpoints', 'catalogue_seeds'];

describeSchema(schema.name, (database) => connectConnector(database, 1), retiredTables);

// Version 0.1.0 names no key in ON CONFLICT. While it still runs, it treats all rows of an application as one row.
const reason = 'the new column has a default, with which the keys of 0.1.0 stay unique';
describeUpgrade(schema, {
  'rate_budgets has lost its key PRIMARY KEY (client_id)': reason,
  'rate_budgets has the new primary key rate_budgets_pkey': reason,
});
