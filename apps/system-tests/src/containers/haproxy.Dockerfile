# Debian's HAProxy on the services' base image. The container test uses it if no registry with haproxy:3.2-alpine is reachable.
FROM node:24-bookworm-slim
RUN apt-get update -qq \
 && apt-get install -y -qq --no-install-recommends haproxy wget >/dev/null \
 && rm -rf /var/lib/apt/lists/*
USER haproxy
ENTRYPOINT ["haproxy"]
CMD ["-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]
