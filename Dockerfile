# Three images of one installation; everything that is kept is under /data.
#
#     docker build -t feedcrawl .                                          # a worker: polls feeds, fetches what they name
#     docker build -t feedcrawl:chromium --target worker-chromium .        # one that renders pages too
#     docker build -t feedcrawl:api --target api .                         # the HTTP API
#     docker run --init -v feedcrawl:/data -e FEEDCRAWL_CONTACT=https://example.org/bot feedcrawl
#
# With -e REDIS_URL=… many workers share one frontier; without it a worker runs a server of its own under /data/redis.

ARG PYTHON=3.12-slim-bookworm

FROM python:${PYTHON} AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/feedcrawl
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY deploy/constraints.txt deploy/
COPY feedcrawl feedcrawl
RUN /opt/feedcrawl/bin/pip install -c deploy/constraints.txt '.[api,kafka,otel]'

# The API and the relay render nothing: without Playwright their image has neither a browser nor Node.
FROM build AS build-api
RUN /opt/feedcrawl/bin/pip uninstall -y playwright scrapy-playwright greenlet pyee

FROM python:${PYTHON} AS base
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin feedcrawl && install -d -o feedcrawl -m 0700 /data
ENV PATH=/opt/feedcrawl/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    MALLOC_ARENA_MAX=1 \
    FEEDCRAWL_DATA_DIR=/data \
    FEEDCRAWL_LOG_FORMAT=json
WORKDIR /app
COPY scrapy.cfg ./
COPY deploy/healthy.py ./
USER 10001
VOLUME /data
# SIGTERM drains: requests under way end, leases go back.
STOPSIGNAL SIGTERM
ENTRYPOINT ["scrapy"]

FROM base AS api
COPY --from=build-api /opt/feedcrawl /opt/feedcrawl
ENV FEEDCRAWL_API_HOST=0.0.0.0 FEEDCRAWL_API_PORT=8000
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=10s --start-period=20s CMD ["python", "healthy.py", "http://127.0.0.1:8000/readyz"]
CMD ["api"]

# Chromium's sandbox needs user namespaces: run it with a seccomp profile that lets them be made (docs/operations.md).
FROM base AS worker-chromium
COPY --from=build /opt/feedcrawl /opt/feedcrawl
USER 0
# The distribution's own, with its security fixes: a version that is named here would be gone from its mirror next week.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends chromium fonts-noto-core fonts-noto-cjk \
    && rm -rf /var/lib/apt/lists/*
USER 10001
ENV HOME=/tmp FEEDCRAWL_METRICS_HOST=0.0.0.0 FEEDCRAWL_METRICS_PORT=9150
EXPOSE 9150
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s CMD ["python", "healthy.py", "http://127.0.0.1:9150/metrics", "feedcrawl_store_up 1.0"]
CMD ["crawl", "feeds", "-a", "forever=1"]

FROM base AS worker
COPY --from=build /opt/feedcrawl /opt/feedcrawl
ENV FEEDCRAWL_METRICS_HOST=0.0.0.0 FEEDCRAWL_METRICS_PORT=9150
EXPOSE 9150
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s CMD ["python", "healthy.py", "http://127.0.0.1:9150/metrics", "feedcrawl_store_up 1.0"]
CMD ["crawl", "feeds", "-a", "forever=1"]
