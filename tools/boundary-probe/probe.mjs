// What the boundary rule must refuse: `npm run check` fails when it does not. See eslint.config.mjs.
import '@stream-events/gateway'; // a lib imports an app
import '../../libs/contracts/src/index.js'; // a relative import across projects
