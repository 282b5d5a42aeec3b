# A worker: polls feeds and fetches what they name until it is stopped. Everything it keeps is under /data.
#
#     docker build -t feedcrawl .
#     docker run --init -v feedcrawl:/data -e FEEDCRAWL_CONTACT=https://example.org/bot feedcrawl
#
# With -e REDIS_URL=… many of them share one frontier; without it the worker runs a server of its own under /data/redis.

FROM python:3.12-slim-bookworm AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/feedcrawl
WORKDIR /src
COPY pyproject.toml README.md ./
COPY feedcrawl feedcrawl
RUN /opt/feedcrawl/bin/pip install --no-compile '.[api]'

FROM python:3.12-slim-bookworm AS worker
RUN useradd --system --uid 10001 --no-create-home feedcrawl && install -d -o feedcrawl -m 0700 /data
ENV PATH=/opt/feedcrawl/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    FEEDCRAWL_DATA_DIR=/data \
    FEEDCRAWL_LOG_FORMAT=json
COPY --from=build /opt/feedcrawl /opt/feedcrawl
WORKDIR /app
COPY scrapy.cfg ./
USER feedcrawl
VOLUME /data
# SIGTERM drains: requests under way end, leases go back.
STOPSIGNAL SIGTERM
# Says only that the program can start, until workers answer for themselves.
HEALTHCHECK --interval=60s --timeout=20s --start-period=20s CMD ["python", "-c", "import feedcrawl.settings"]
ENTRYPOINT ["scrapy"]
CMD ["crawl", "feeds", "-a", "forever=1"]
