import { Button, Group, Stack, Textarea, Title } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { IconPlayerPlay, IconSend } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { api, call } from '../api/api.js';
import { ApiError, describeFault } from '../api/api-error.js';
import { CopyButton } from '../kit/copy-button.js';
import classes from './browser-sources.module.css';
import { placeOnChannel, type Channel } from './source-address.js';

const firstStyles = `:root {
  --alert-accent: #ffb454;
  --alert-background: rgb(24 16 40 / 88%);
}

.alert[data-type='channel-raid'] {
  --alert-accent: #ff7a90;
}`;

const variables = [
  ['--alert-accent', 'color of the edge, names, and numbers'],
  ['--alert-color', 'color of the text'],
  ['--alert-background', 'background of an alert'],
  ['--alert-font', 'font'],
  ['--alert-size', 'size of the text'],
  ['--alert-width', 'maximum width of an alert'],
  ['--alert-radius', 'roundness of the corners'],
  ['--alert-align', 'start, center, or end'],
  ['--alert-enter', 'animation when an alert appears'],
  ['--alert-exit', 'animation when an alert disappears'],
];

/** Width of the source in pixels. The page's instructions name the same width. */
const sourceWidth = 800;

interface SourcePreviewProps {
  eventTypes: readonly string[];
  channel: Channel | undefined;
}

/** Previews alerts with the user's styles. Sends test alerts. */
export function SourcePreview({ eventTypes, channel }: SourcePreviewProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  const { ref: stage, width: stageWidth } = useElementSize();
  const [styles, setStyles] = useState(firstStyles);
  const [count, setCount] = useState(0);
  const queries = useQueryClient();
  const type = eventTypes[count % Math.max(eventTypes.length, 1)] ?? 'channel-follow';
  const readExample = async () => {
    const example = await queries.query({
      queryKey: ['platform', 'event-types', type, 'example'],
      queryFn: () => readExampleOf(type),
      staleTime: Infinity,
    });
    return channel ? placeOnChannel(example, channel) : example;
  };
  const showFault = (error: unknown): void => {
    const { title, detail } = describeFault(error);
    notifications.show({ color: 'red', title, message: detail });
  };
  const preview = useMutation({
    mutationFn: async () => {
      const message = { event_type: type, event_data: await readExample() };
      frame.current?.contentWindow?.postMessage(message, location.origin);
    },
    onSuccess: () => setCount(count + 1),
    onError: showFault,
  });
  const send = useMutation({
    mutationFn: async () =>
      call(
        api().POST('/api/v1/platform-events/{event_type}/test', {
          params: { path: { event_type: type } },
          body: await readExample(),
        }),
      ),
    onSuccess: () => {
      setCount(count + 1);
      notifications.show({
        title: 'Sent',
        message: `A test event of the type ${type} was sent to all clients.`,
      });
    },
    onError: showFault,
  });
  useEffect(() => applyStyles(frame.current, styles), [styles]);
  return (
    <section aria-labelledby="preview">
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h4" id="preview">
            Preview
          </Title>
          <Group gap="xs">
            <Button
              size="xs"
              variant="default"
              leftSection={<IconPlayerPlay size={14} />}
              onClick={() => preview.mutate()}
            >
              Show the next alert
            </Button>
            <Button
              size="xs"
              variant="default"
              leftSection={<IconSend size={14} />}
              disabled={!channel}
              loading={send.isPending}
              onClick={() => send.mutate()}
            >
              Send a test alert
            </Button>
          </Group>
        </Group>
        <div ref={stage} className={classes.stage}>
          <iframe
            ref={frame}
            style={{ transform: `scale(${stageWidth / sourceWidth})` }}
            src="/overlay/#preview&seconds=600"
            title="Preview of the alerts"
            onLoad={() => {
              applyStyles(frame.current, styles);
              preview.mutate();
            }}
          />
        </div>
        <Textarea
          label="Custom CSS"
          description="Change the styles here, then paste them into the field with the same name in OBS"
          value={styles}
          onChange={({ currentTarget }) => setStyles(currentTarget.value)}
          autosize
          minRows={6}
          maxRows={20}
          spellCheck={false}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        />
        <Group>
          <CopyButton text={styles} label="Copy CSS" />
        </Group>
        <dl className={classes.variables}>
          {variables.map(([name, meaning]) => (
            <VariableRow key={name} name={name ?? ''} meaning={meaning ?? ''} />
          ))}
        </dl>
      </Stack>
    </section>
  );
}

function VariableRow({ name, meaning }: { name: string; meaning: string }) {
  return (
    <>
      <dt>
        <code>{name}</code>
      </dt>
      <dd>{meaning}</dd>
    </>
  );
}

/** Adds the user's styles to the framed page, like OBS. */
function applyStyles(frame: HTMLIFrameElement | null, styles: string): void {
  const page = frame?.contentDocument;
  if (!page?.head) return;
  const id = 'custom-styles';
  const element = page.getElementById(id) ?? page.head.appendChild(page.createElement('style'));
  element.id = id;
  element.textContent = styles;
}

/** Returns the event type's example data; empty if the platform does not know the type. */
async function readExampleOf(type: string): Promise<Record<string, unknown>> {
  try {
    const request = { params: { path: { type } } };
    return (await call(api().GET('/api/v1/platform/event-types/{type}', request))).example;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return {};
    throw error;
  }
}
