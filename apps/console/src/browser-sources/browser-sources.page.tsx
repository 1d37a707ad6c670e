import { Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { streamersQuery } from '../api/queries.js';
import { Page } from '../kit/page.js';
import classes from './browser-sources.module.css';
import { ConnectedSources } from './connected-sources.js';
import { CreateSource, type SourceDraft } from './create-source.js';
import { usualTypes } from './source-address.js';
import { SourceAddresses } from './source-addresses.js';
import { SourcePreview } from './source-preview.js';

const firstDraft: SourceDraft = { name: 'alerts', channelId: '', eventTypes: usualTypes, seconds: 8 };

/** Creates the address of a browser source, previews its alerts, and controls connected sources. */
export function BrowserSourcesPage() {
  const [draft, setDraft] = useState(firstDraft);
  const { data: streamers = [] } = useQuery(streamersQuery);
  // Preselect the only streamer.
  const [only, ...others] = streamers;
  const channelId = draft.channelId || (only && others.length === 0 ? only.platform_id : '');
  const streamer = streamers.find(({ platform_id }) => platform_id === channelId);
  const channel = streamer && { id: streamer.platform_id, name: streamer.platform_username };
  return (
    <Page
      title="Browser sources"
      description="Alerts on your stream, for OBS and other programs that show web pages"
    >
      <div className={classes.columns}>
        <Stack gap="xl">
          <section aria-labelledby="connected">
            <Title order={2} size="h4" id="connected" mb="xs">
              Connected now
            </Title>
            <ConnectedSources />
          </section>
          <section aria-labelledby="create">
            <Title order={2} size="h4" id="create" mb="xs">
              Create an address
            </Title>
            <CreateSource draft={{ ...draft, channelId }} onChange={setDraft} />
          </section>
          <section aria-labelledby="addresses">
            <Title order={2} size="h4" id="addresses" mb="xs">
              Your addresses
            </Title>
            <SourceAddresses />
          </section>
          <section aria-labelledby="steps">
            <Title order={2} size="h4" id="steps" mb="xs">
              Add it to OBS
            </Title>
            <Steps />
          </section>
        </Stack>
        <SourcePreview eventTypes={draft.eventTypes} channel={channel} />
      </div>
    </Page>
  );
}

function Steps() {
  return (
    <>
      <ol className={classes.steps}>
        <li>
          In OBS, add a source of the type <b>Browser</b> to your scene.
        </li>
        <li>
          Paste the address as its <b>URL</b>. Set the width to 800 and the height to 300.
        </li>
        <li>
          If you have styles, paste them into <b>Custom CSS</b>. The background stays transparent.
        </li>
        <li>Send a test alert. The source appears above while it is connected.</li>
      </ol>
      <Text size="xs" c="dimmed" mt="xs">
        A source shows each alert only once, even after a restart, and skips alerts that are older than ten
        minutes. Problems never appear on your stream. To see them, add <code>&amp;debug</code> to the
        address.
      </Text>
    </>
  );
}
