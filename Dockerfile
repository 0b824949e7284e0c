# crawlrank, as a command that works in /data: see docs/install.md. The image contains surt, which is
# under the AGPL-3.0: NOTICE says what that asks of those who give the image to others.
FROM python:3.13 AS build
WORKDIR /source
COPY . .
RUN python -m venv /opt/crawlrank \
 && CRAWLRANK_COMPILE=1 /opt/crawlrank/bin/pip install --no-cache-dir --constraint constraints/py313.txt '.[plot,pdf]'

FROM python:3.13-slim
COPY --from=build /opt/crawlrank /opt/crawlrank
COPY LICENSE NOTICE /usr/share/doc/crawlrank/
ENV PATH=/opt/crawlrank/bin:$PATH HOME=/tmp MPLCONFIGDIR=/tmp/matplotlib
# Loops are compiled once, here, for all processors of the architecture: any user of a run may take
# them from their folders, and add to them.
COPY sample_data/heritrix-loopback.warc.gz /tmp/warm/
RUN NUMBA_CPU_NAME=generic crawlrank run /tmp/warm/heritrix-loopback.warc.gz --work /tmp/warm/work --quiet \
 && rm -r /tmp/warm \
 && find /opt/crawlrank/lib -path '*/site-packages/crawlrank/*__pycache__' -exec chmod -R a+rwX {} +
USER 1000
WORKDIR /data
ENTRYPOINT ["crawlrank"]
CMD ["--help"]
